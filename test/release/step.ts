/** What `npm run release:check` finds out, step by step. */

export interface Step {
  readonly name: string
  readonly result: 'ok' | 'failed' | 'not run'
  /** What was seen; why it failed, or could not run. */
  readonly detail: string
}

/** A step cannot run on this machine, for the reason that is the message. */
export class NotRun extends Error {}

/** @param run resolves with what was seen, or rejects */
export async function step(name: string, run: () => Promise<string> | string): Promise<Step> {
  try {
    return { name, result: 'ok', detail: await run() }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { name, result: error instanceof NotRun ? 'not run' : 'failed', detail }
  }
}

/** The exit code of a check: 1, a step failed; 3, if it is strict: a step could not run; 0. */
export function statusOf(steps: readonly Step[], isStrict: boolean): 0 | 1 | 3 {
  const has = (result: Step['result']) => steps.some((each) => each.result === result)
  if (has('failed')) return 1
  return isStrict && has('not run') ? 3 : 0
}
