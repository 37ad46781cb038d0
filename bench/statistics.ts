/** Medians, their intervals, and quantiles. */

/** The median; of an even number of values, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}

/** The smallest value that at least this share of all does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/**
 * The 95 % interval of the median, by the ranks of a binomial distribution, which assumes nothing of the
 * spread. Of fewer than six values it is narrower than that: the smallest and the largest.
 */
export function medianInterval(values: readonly number[]): [low: number, high: number] {
  const half = Math.min(0.5, 1.96 / 2 / Math.sqrt(values.length))
  return [quantile(values, 0.5 - half), quantile(values, 0.5 + half)]
}
