//! Thread block clusters (compute capability 9.0 and later): how many can be resident at most.
//!
//! The blocks of a cluster run at the same time on the SMs of one GPU processing cluster (GPC). Which SMs of a GPC are
//! enabled differs from chip to chip, so that only the driver knows the number
//! (`cudaOccupancyMaxActiveClusters`); without a device there is an upper bound.
//!
//! Source: CUDA C++ Programming Guide, "Thread Block Clusters"; Hopper tuning guide, "Thread Block Clusters".

/// An upper bound of the clusters that are resident at once.
///
/// Each GPC holds at most `floor(blocks_per_sm * sms_per_gpc / cluster_size)`, and all SMs together at most
/// `floor(blocks_per_sm * sms / cluster_size)`. `sms_per_gpc` is the largest number of SMs that a GPC can have. A cluster
/// size of 0 gives 0.
///
/// ```
/// use tilewright_arch::clusters::max_active_clusters;
///
/// // H200: 132 SMs in 8 GPCs of at most 18; one block per SM, clusters of 16.
/// assert_eq!(max_active_clusters(1, 16, 132, 8, 18), 8);
/// // Clusters of 2.
/// assert_eq!(max_active_clusters(1, 2, 132, 8, 18), 66);
/// ```
pub fn max_active_clusters(
    blocks_per_sm: u32,
    cluster_size: u32,
    sms: u32,
    gpcs: u32,
    sms_per_gpc: u32,
) -> u32 {
    let clusters_on =
        |sms: u32| (u64::from(blocks_per_sm) * u64::from(sms)).checked_div(u64::from(cluster_size));
    let in_all = clusters_on(sms).unwrap_or(0);
    let by_gpc = clusters_on(sms_per_gpc).unwrap_or(0).saturating_mul(u64::from(gpcs));
    u32::try_from(in_all.min(by_gpc)).unwrap_or(u32::MAX)
}
