/** Event counts over all schedules, as a simulation without faults proves nothing. */

export type Figures = ReturnType<typeof zeroFigures>

export function zeroFigures() {
  return {
    schedules: 0,
    events: 0,
    requests: 0,
    // Requests by where their records came from.
    memory: 0,
    redis: 0,
    store: 0,
    /** Requests answered with 503. */
    unavailable: 0,
    /** Acknowledged writes, and how their acknowledgement came about. */
    writes: 0,
    acknowledged: 0,
    waited: 0,
    /** Writes of several records, renewals of the session, reloads, and new sessions. */
    applied: 0,
    renewals: 0,
    reloads: 0,
    signIns: 0,
    /** Pushes of tables that were answered, and those that were refused. */
    pushes: 0,
    refusedPushes: 0,
    /** Requests that stayed open, their decisions again, and those that were ended. */
    streams: 0,
    reevaluated: 0,
    cut: 0,
    /** Instances that have said what they have cut for a revocation, and those that have not. */
    closed: 0,
    partial: 0,
    /** Instances that were removed from the list or left it. */
    removed: 0,
  }
}

export function add(sum: Figures, more: Figures): void {
  for (const key of Object.keys(sum) as (keyof Figures)[]) sum[key] += more[key]
}
