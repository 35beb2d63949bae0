/* Driver functions that Triton newer than 3.6.0 links to, beside the stand-in libcuda.so.1. */

int cuStreamIsCapturing(void *stream, int *status);

int cuStreamIsCapturing(void *stream, int *status) {
  (void)stream;
  *status = 0; /* CU_STREAM_CAPTURE_STATUS_NONE */
  return 0;    /* CUDA_SUCCESS */
}
