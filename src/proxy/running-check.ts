/** A health check that has not reported yet. */
export interface RunningCheck {
  /** Ends the check, and reports this result: the fault, or null. Later calls do nothing. */
  stop(cause: unknown): void
}
