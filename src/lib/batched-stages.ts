/**
 * A request goes through its stages beside the others that came in the same turn of the event loop: all of them are
 * read, then all are judged, then all are forwarded. A stage's code and data stay in the processor's caches for many
 * requests in a row, where one request after the other would load all of it anew: at saturation this saves a fifth of
 * the CPU. A request that comes alone waits for nothing. (`process.nextTick` is no way to do it: a microsecond a call.)
 */

const steps: ((subject: never) => void)[] = []
const subjects: unknown[] = []

/**
 * Calls `step` once what has come in this turn was looked at, after all that was asked for before. Steps may ask for
 * further ones: they come in the same turn.
 *
 * @param step must not throw; a function that is made once, not one for each call
 */
export function nextStage<T>(step: (subject: T) => void, subject: T): void {
  steps.push(step)
  if (subjects.push(subject) === 1) setImmediate(run)
}

function run(): void {
  let at = 0
  try {
    for (; at < steps.length; at++) steps[at]?.(subjects[at] as never)
  } finally {
    if (at === steps.length) {
      steps.length = 0
      subjects.length = 0
    } else {
      // One that threw all the same is not called again, and the others are not lost.
      steps.splice(0, at + 1)
      subjects.splice(0, at + 1)
      if (steps.length > 0) setImmediate(run)
    }
  }
}
