// Nothing: what a launch takes.
extern "C" __global__ void empty() {}
