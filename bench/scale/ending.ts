/** Stands in for a test where the test servers need one to register their teardown. */

import type { Test } from 'tap'

type Step = () => unknown

export class Ending {
  readonly #steps: Step[] = []

  /** As the test servers take it: of a test they use `teardown` alone. */
  get t(): Test {
    return this as unknown as Test
  }

  teardown(step: Step): void {
    this.#steps.push(step)
  }

  /** In reverse order, like tap; a failing step does not prevent the others. */
  async run(): Promise<void> {
    const failures: unknown[] = []
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step()
      } catch (cause) {
        failures.push(cause)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be ended')
  }
}
