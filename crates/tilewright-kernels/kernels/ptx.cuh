// The few PTX instructions that C++ has no name for.
#pragma once
