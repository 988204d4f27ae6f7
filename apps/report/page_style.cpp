#include "apps/report/page_style.hpp"

namespace molgraph {

const char* const kPageStyle = R"css(
:root{color-scheme:light;--back:#fff;--text:#1b1b1b;--quiet:#555;--rule:#d0d0d0;--soft:#f4f4f2;--warn:#8a4b00;
--c1:#0072b2;--c2:#c44e00;--c3:#007a5a;--c4:#a8437c}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--back:#15171a;--text:#e8e8e6;--quiet:#aaa;
--rule:#3a3e44;--soft:#1f2226;--warn:#ffb454;--c1:#56b4e9;--c2:#ffa045;--c3:#3fd0a4;--c4:#e79ac4}
.molecule svg{filter:invert(1) hue-rotate(180deg)}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem 1.2rem 3rem;max-width:68rem;background:var(--back);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif}
h1{font-size:1.7rem;line-height:1.2;margin:.6rem 0 .3rem}h2{font-size:1.25rem;margin:2.2rem 0 .6rem;
border-bottom:1px solid var(--rule);padding-bottom:.2rem}h3{font-size:1.05rem;margin:1.2rem 0 .3rem}
h1,h2,h3,td,th,dd,li,code,bdi{overflow-wrap:anywhere;unicode-bidi:isolate}
p{max-width:46rem;margin:.5rem 0}.lead{font-size:1.1rem}.quiet,.range,figcaption,caption{color:var(--quiet)}
.warn{border-left:4px solid var(--warn);padding:.2rem .8rem;background:var(--soft);max-width:46rem;margin:.8rem 0}
.warn h2{font-size:1.05rem;margin:.3rem 0;border:0;padding:0}.warn ul{margin:.3rem 0;padding-left:1.2rem}
a{color:var(--c1)}
a:focus-visible,button:focus-visible,summary:focus-visible,.scroll:focus-visible{
outline:3px solid var(--c1);outline-offset:2px}
.skip{position:absolute;left:-999rem}.skip:focus{position:static}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:.6rem 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.6rem 0}dt{color:var(--quiet)}dd{margin:0}
.scroll{overflow-x:auto;margin:.7rem 0}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.2rem 0}th,td{padding:.25rem .7rem .25rem 0;text-align:left;vertical-align:top;
border-bottom:1px solid var(--rule);overflow-wrap:normal}thead th{border-bottom:2px solid var(--rule)}
th button{all:unset;cursor:pointer;font-weight:600}th button::after{content:"\2195";padding-left:.25em;
color:var(--quiet)}[aria-sort=ascending] button::after{content:"\2191"}
[aria-sort=descending] button::after{content:"\2193"}
tbody th{font-weight:600;min-width:8rem;max-width:22rem;overflow-wrap:anywhere}
.numbers td,.numbers thead th+th{text-align:right}
.range{display:block;font-size:.85em;white-space:nowrap}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,25rem),1fr));
gap:1.2rem 2rem;margin:.8rem 0}
figure{margin:0;min-width:0}figure svg{display:block;width:100%;max-width:32rem;height:auto}figcaption{font-size:.9rem}
summary{cursor:pointer;color:var(--c1);padding:.2rem 0}
svg text{font:12.5px system-ui,"Liberation Sans",Arial,sans-serif;fill:var(--text)}
svg .tick,svg .count{fill:var(--quiet)}
svg .count{font-size:11px}.grid{stroke:var(--rule);stroke-width:.8;fill:none}
.guide{stroke:var(--quiet);stroke-width:1.3;stroke-dasharray:5 4;fill:none}
.s1{--c:var(--c1)}.s2{--c:var(--c2);--dash:9 4}.s3{--c:var(--c3);--dash:2 4}.s4{--c:var(--c4);--dash:9 4 2 4}
.line{stroke:var(--c);stroke-width:2.2;stroke-dasharray:var(--dash,none);fill:none}
.dots{stroke:var(--c);stroke-width:5.5;stroke-linecap:round;stroke-opacity:.55;fill:none}
.mark{fill:var(--back);stroke:var(--c);stroke-width:2.2}
.spot circle{fill:none;pointer-events:all}.spot:hover circle{stroke:var(--text);stroke-width:1.5}
.tip{display:none;pointer-events:none}.spot:hover .tip{display:block}
.paper{fill:#fff;stroke:#888}
.ink,svg .ink{fill:#1b1b1b;font:11.5px system-ui,"Liberation Sans",Arial,sans-serif}
.hidden{position:absolute;width:0;height:0}
.bar{stroke:var(--c);stroke-width:1.4;stroke-opacity:.45;fill:none}
.box{fill:var(--c);fill-opacity:.35;stroke:var(--c)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,14rem),1fr));
gap:1rem;list-style:none;padding:0}
.pairs{grid-template-columns:repeat(auto-fill,minmax(min(100%,28rem),1fr))}
.card{border:1px solid var(--rule);border-radius:6px;padding:.6rem;min-width:0;break-inside:avoid}
.card dl{font-size:.88rem;gap:.05rem .7rem;margin:.3rem 0 0}.card p{margin:0;font-size:.88rem}
.two{display:grid;grid-template-columns:1fr 1fr;gap:.6rem}.molecule svg{display:block;width:100%;height:auto}
.molecule code{font-size:.8rem}
@media(max-width:34rem){body{padding:.6rem .8rem 2rem;font-size:15px}
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}
.card dl{grid-template-columns:max-content 1fr}}
@media print{body{max-width:none;padding:0;font-size:10.5pt}nav,.skip,.warn a{display:none}
th button::after{display:none}
figure,.card,tr{break-inside:avoid}
h2,h3{break-after:avoid}.scroll{overflow:visible}
.plots{grid-template-columns:1fr 1fr}a{color:inherit}summary{color:inherit}}
)css";

const char* const kSortScript = R"js(
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const text = (row, column) => row.cells[column].firstChild?.textContent.trim() ?? "";
  const number = (row, column) => parseFloat(text(row, column).replaceAll(",", ""));
  heads.forEach((head, column) => {
    const button = document.createElement("button"), first = column === 0 ? "ascending" : "descending";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const again = head.getAttribute("aria-sort") === first;
      const order = !again ? first : first === "ascending" ? "descending" : "ascending";
      const sign = order === "ascending" ? 1 : -1;
      const compare = (a, b) => {
        if (column === 0) return sign * text(a, 0).localeCompare(text(b, 0), "en", {numeric: true});
        const x = number(a, column), y = number(b, column);
        return isNaN(x) - isNaN(y) || sign * (x - y);  // missing values last
      };
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      body.append(...[...body.rows].sort(compare));
    });
  });
}
)js";

const char* const kSortScriptHash = "3uKnmjLy2Ce934gfs3biLBxmtO5yLOpOKNLuXe4ZOqI=";

}  // namespace molgraph
