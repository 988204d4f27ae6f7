// Names of the CUDA engine. The same sources are compiled twice: by nvcc for a GPU (molgraph::cuda), and by the host compiler
// for an emulated one (molgraph::cuda_emulated), on which the tests check the kernels' logic where there is no GPU.
#pragma once

#ifdef MOLGRAPH_CUDA_EMULATED
#define MOLGRAPH_CUDA cuda_emulated
#else
#define MOLGRAPH_CUDA cuda
#endif
