/** The environment of `seatgate` processes in a run of tests. */

const PRELOAD = new URL('../run/preload.ts', import.meta.url).href

/**
 * Their packages come from bundles, as those of test files do (`test/run/preload.ts`), which saves a fifth of
 * the CPU time of their start. Empty outside of a run, which writes the bundles.
 */
export function bundled(): Record<string, string> {
  const { SEATGATE_TEST_RUN: run, NODE_COMPILE_CACHE: cache } = process.env
  if (run === undefined || cache === undefined) return {}
  return { NODE_OPTIONS: `--import=${PRELOAD}`, NODE_COMPILE_CACHE: cache }
}
