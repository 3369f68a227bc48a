//! Functions of CUDA 13.0 that are not there: they are found, so that programs start which never call them, and say so when they are called.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::sync::Mutex;

use crate::call::{Pointer, locked};
use crate::code::Code;
use crate::settings;

/// Applies a macro to the names of all functions that are not there.
#[macro_export]
#[doc(hidden)]
macro_rules! for_each_missing_function {
    ($apply:ident) => {
        $apply! {
            cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayCreate_v2 cuArrayDestroy cuArrayGetDescriptor_v2
            cuArrayGetMemoryRequirements cuArrayGetPlane cuArrayGetSparseProperties
            cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback cuCoredumpGetAttribute
            cuCoredumpGetAttributeGlobal cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback
            cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal cuCtxAttach cuCtxFromGreenCtx
            cuCtxGetDevResource cuCtxGetDevice_v2 cuCtxGetExecAffinity cuCtxRecordEvent cuCtxSynchronize_v2
            cuCtxWaitEvent cuDestroyExternalMemory cuDestroyExternalSemaphore cuDevResourceGenerateDesc
            cuDevSmResourceSplit cuDevSmResourceSplitByCount cuDeviceGetCliqueCount cuDeviceGetCliqueInfo
            cuDeviceGetDevResource cuDeviceGetExecAffinitySupport cuDeviceGetFabricClusterUuid
            cuDeviceGetGraphMemAttribute cuDeviceGetHostAtomicCapabilities cuDeviceGetLuid
            cuDeviceGetP2PAtomicCapabilities cuDeviceGetProperties cuDeviceGetTexture1DLinearMaxWidth
            cuDeviceGraphMemTrim cuDeviceRegisterAsyncNotification cuDeviceSetGraphMemAttribute
            cuDeviceUnregisterAsyncNotification cuExternalMemoryGetMappedBuffer
            cuExternalMemoryGetMappedMipmappedArray cuFlushGPUDirectRDMAWrites cuFuncGetParamCount
            cuFuncSetSharedSize cuGraphAddBatchMemOpNode cuGraphAddChildGraphNode cuGraphAddDependencies
            cuGraphAddDependencies_v2 cuGraphAddEmptyNode cuGraphAddEventRecordNode cuGraphAddEventWaitNode
            cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode cuGraphAddHostNode
            cuGraphAddKernelNode cuGraphAddKernelNode_v2 cuGraphAddMemAllocNode cuGraphAddMemFreeNode
            cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphAddNode cuGraphAddNode_v2 cuGraphAddNode_v3
            cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams cuGraphChildGraphNodeGetGraph cuGraphClone
            cuGraphConditionalHandleCreate cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy cuGraphDestroyNode
            cuGraphEventRecordNodeGetEvent cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent
            cuGraphEventWaitNodeSetEvent cuGraphExecBatchMemOpNodeSetParams cuGraphExecChildGraphNodeSetParams
            cuGraphExecDestroy cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
            cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams
            cuGraphExecGetFlags cuGraphExecGetId cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams
            cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams
            cuGraphExecNodeSetParams cuGraphExecUpdate cuGraphExecUpdate_v2
            cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams
            cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams cuGraphGetEdges
            cuGraphGetEdges_v2 cuGraphGetId cuGraphGetNodes cuGraphGetRootNodes cuGraphHostNodeGetParams
            cuGraphHostNodeSetParams cuGraphInstantiateWithFlags cuGraphInstantiateWithParams cuGraphInstantiate_v2
            cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute cuGraphKernelNodeGetParams
            cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetAttribute cuGraphKernelNodeSetParams
            cuGraphKernelNodeSetParams_v2 cuGraphLaunch cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams
            cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams
            cuGraphMemsetNodeSetParams cuGraphNodeFindInClone cuGraphNodeGetContainingGraph cuGraphNodeGetDependencies
            cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes_v2
            cuGraphNodeGetEnabled cuGraphNodeGetLocalId cuGraphNodeGetParams cuGraphNodeGetToolsId cuGraphNodeGetType
            cuGraphNodeSetEnabled cuGraphNodeSetParams cuGraphNodeSetParams_v2 cuGraphReleaseUserObject
            cuGraphRemoveDependencies cuGraphRemoveDependencies_v2 cuGraphRetainUserObject cuGraphUpload
            cuGraphicsMapResources cuGraphicsResourceGetMappedMipmappedArray cuGraphicsResourceGetMappedPointer_v2
            cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources
            cuGraphicsUnregisterResource cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource cuGreenCtxGetId
            cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent cuImportExternalMemory
            cuImportExternalSemaphore cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle
            cuIpcOpenMemHandle_v2 cuKernelGetLibrary cuKernelGetParamCount cuKernelSetCacheConfig cuLaunch
            cuLaunchCooperativeKernelMultiDevice cuLaunchGrid cuLaunchGridAsync cuLaunchHostFunc_v2
            cuLibraryEnumerateKernels cuLibraryGetManaged cuLibraryGetUnifiedFunction cuLogicalEndpointAddDevice
            cuLogicalEndpointBindAddr cuLogicalEndpointBindMem cuLogicalEndpointCreate cuLogicalEndpointDestroy
            cuLogicalEndpointExport cuLogicalEndpointGetLimits cuLogicalEndpointIdRelease cuLogicalEndpointIdReserve
            cuLogicalEndpointImport cuLogicalEndpointQuery cuLogicalEndpointUnbind cuLogsCurrent cuLogsDumpToFile
            cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback cuMemAddressFree cuMemAddressReserve
            cuMemBatchDecompressAsync cuMemCreate cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync
            cuMemExportToShareableHandle cuMemGetAccess cuMemGetAllocationGranularity
            cuMemGetAllocationPropertiesFromHandle cuMemGetDefaultMemPool cuMemGetHandleForAddressRange
            cuMemGetLocationInfo cuMemGetMemPool cuMemImportFromShareableHandle cuMemMap cuMemMapArrayAsync
            cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolGetAccess
            cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemPoolSetAccess cuMemPrefetchBatchAsync
            cuMemRangeGetAttribute cuMemRangeGetAttributes cuMemRelease cuMemRetainAllocationHandle cuMemSetAccess
            cuMemSetMemPool cuMemUnmap cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_v2 cuMemcpy3DPeer cuMemcpy3DPeerAsync
            cuMemcpy3DWithAttributesAsync cuMemcpyAtoA_v2 cuMemcpyAtoD_v2 cuMemcpyAtoHAsync_v2 cuMemcpyAtoH_v2
            cuMemcpyBatchAsync cuMemcpyBatchAsync_v2 cuMemcpyDtoA_v2 cuMemcpyHtoAAsync_v2 cuMemcpyHtoA_v2
            cuMemcpyWithAttributesAsync cuMipmappedArrayCreate cuMipmappedArrayDestroy cuMipmappedArrayGetLevel
            cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties cuModuleEnumerateFunctions
            cuModuleGetSurfRef cuModuleGetTexRef cuMulticastAddDevice cuMulticastBindAddr cuMulticastBindAddr_v2
            cuMulticastBindMem cuMulticastBindMem_v2 cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind
            cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti cuParamSetv cuPointerSetAttribute
            cuProfilerInitialize cuSignalExternalSemaphoresAsync cuStreamBatchMemOp cuStreamBatchMemOp_v2
            cuStreamBeginCaptureToCig cuStreamBeginCaptureToGraph cuStreamBeginCapture_v2
            cuStreamBeginRecaptureToGraph cuStreamCopyAttributes cuStreamEndCapture cuStreamEndCaptureToCig
            cuStreamGetAttribute cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2 cuStreamGetCaptureInfo_v3
            cuStreamGetCtx_v2 cuStreamGetDevResource cuStreamGetGreenCtx cuStreamSetAttribute
            cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v2 cuStreamWaitValue32
            cuStreamWaitValue32_v2 cuStreamWaitValue64 cuStreamWaitValue64_v2 cuStreamWriteValue32
            cuStreamWriteValue32_v2 cuStreamWriteValue64 cuStreamWriteValue64_v2 cuSurfObjectCreate
            cuSurfObjectDestroy cuSurfObjectGetResourceDesc cuSurfRefGetArray cuSurfRefSetArray
            cuTensorMapEncodeIm2colWide
            cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc cuTexRefCreate
            cuTexRefDestroy cuTexRefGetAddressMode cuTexRefGetAddress_v2 cuTexRefGetArray cuTexRefGetBorderColor
            cuTexRefGetFilterMode cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy
            cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp
            cuTexRefGetMipmappedArray cuTexRefSetAddress2D_v3 cuTexRefSetAddressMode cuTexRefSetAddress_v2
            cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode cuTexRefSetFlags cuTexRefSetFormat
            cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias
            cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray cuThreadExchangeStreamCaptureMode cuUserObjectCreate
            cuUserObjectRelease cuUserObjectRetain cuWaitExternalSemaphoresAsync
        }
    };
}

macro_rules! define {
    ($($name:ident)*) => {
        /// The functions. What they are passed is left alone, as the caller clears it away.
        #[allow(non_snake_case, missing_docs, clippy::missing_safety_doc)]
        pub mod missing_api {
            use super::*;

            $(
                pub unsafe extern "C" fn $name() -> c_int {
                    refuse(stringify!($name))
                }
            )*
        }

        /// Their names and addresses.
        pub(crate) static MISSING: &[(&str, Pointer)] = &[$((stringify!($name), Pointer(missing_api::$name as *const c_void)),)*];
    };
}

for_each_missing_function! { define }

/// Names the function, once.
fn refuse(name: &'static str) -> c_int {
    static NAMED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    if locked(&NAMED).insert(name) {
        settings::say(&format!("{name} is not supported by the emulator"));
    }
    Code::NOT_SUPPORTED.0
}
