"""Which fields of a KubeletConfiguration a user may set on Talos.

Talos' validator knows only the protected ones; a field that the kubelet does not know passes it, and then no
kubelet starts. Sources: pkg/machinery/kubelet of siderolabs/talos, k8s.io/kubelet/config/v1beta1.
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PROTECTED = _names("""
    authentication authorization cgroupRoot kubeletCgroups port protectKernelDefaults resolvConf
    rotateCertificates systemCgroups staticPodPath seccompDefault
""")
"""Fields that Talos sets by itself."""

_KNOWN = _names("""
    address allowedUnsafeSysctls cgroupDriver cgroupsPerQOS clusterDNS clusterDomain
    configMapAndSecretChangeDetectionStrategy containerLogMaxFiles containerLogMaxSize containerLogMaxWorkers
    containerLogMonitorInterval containerRuntimeEndpoint contentType cpuCFSQuota cpuCFSQuotaPeriod
    cpuManagerPolicy cpuManagerPolicyOptions cpuManagerReconcilePeriod crashLoopBackOff
    enableContentionProfiling enableControllerAttachDetach enableDebugFlagsHandler enableDebuggingHandlers
    enableProfilingHandler enableServer enableSystemLogHandler enableSystemLogQuery enforceNodeAllocatable
    eventBurst eventRecordQPS evictionHard evictionMaxPodGracePeriod evictionMinimumReclaim
    evictionPressureTransitionPeriod evictionSoft evictionSoftGracePeriod failCgroupV failSwapOn featureGates
    fileCheckFrequency hairpinMode healthzBindAddress healthzPort httpCheckFrequency
    imageGCHighThresholdPercent imageGCLowThresholdPercent imageMaximumGCAge imageMinimumGCAge
    imageServiceEndpoint iptablesDropBit iptablesMasqueradeBit kernelMemcgNotification kubeAPIBurst kubeAPIQPS
    kubeReserved kubeReservedCgroup localStorageCapacityIsolation logging makeIPTablesUtilChains maxOpenFiles
    maxParallelImagePulls maxPods memoryManagerPolicy memorySwap memoryThrottlingFactor
    nodeLeaseDurationSeconds nodeStatusMaxImages nodeStatusReportFrequency nodeStatusUpdateFrequency
    oomScoreAdj podCIDR podLogsDir podPidsLimit podsPerCore providerID qosReserved readOnlyPort registerNode
    registerWithTaints registryBurst registryPullQPS reservedMemory reservedSystemCPUs runOnce
    runtimeRequestTimeout serializeImagePulls serverTLSBootstrap showHiddenMetricsForVersion
    shutdownGracePeriod shutdownGracePeriodByPodPriority shutdownGracePeriodCriticalPods singleProcessOOMKill
    staticPodURL staticPodURLHeader streamingConnectionIdleTimeout syncFrequency systemReserved
    systemReservedCgroup tlsCertFile tlsCipherSuites tlsMinVersion tlsPrivateKeyFile topologyManagerPolicy
    topologyManagerPolicyOptions topologyManagerScope tracing volumePluginDir volumeStatsAggPeriod
""")
_KNOWN_SINCE = {
    10: _names("""imagePullCredentialsVerificationPolicy mergeDefaultEvictionSettings
                  preloadedImagesVerificationAllowlist userNamespaces"""),
    13: _names("memoryReservationPolicy tlsCurvePreferences"),
}


def known(minor: int) -> frozenset[str]:
    """Give the fields that Talos v1.<minor> can pass to its kubelet, without the protected ones."""
    return _KNOWN.union(*(names for since, names in _KNOWN_SINCE.items() if minor >= since))
