/** What every program of the bench has: an end for all that it starts, temporary folders, and progress. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** Ends what was started, last first. It takes the place of a test for the servers of the tests. */
export class Ending implements AsyncDisposable {
  readonly #steps: (() => unknown)[] = []

  /** This ending, as the servers of the tests take it: of a test, they use `teardown` alone. */
  get t(): Test {
    return this as unknown as Test
  }

  teardown(step: () => unknown): void {
    this.#steps.push(step)
  }

  /** A step that fails does not prevent the others. */
  async [Symbol.asyncDispose](): Promise<void> {
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

/**
 * Runs a program, and ends what it has started also after an error or a signal. `main` may resolve with an
 * exit code.
 */
export async function runBench(main: (ending: Ending) => Promise<number | void>): Promise<void> {
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
  await using ending = new Ending()
  process.exitCode = (await main(ending)) ?? 0
}

/**
 * Runs the step at the end of the work, and again at the end of the process, which a signal may end first.
 */
export function onEnd(ending: Ending, step: () => void): void {
  ending.teardown(step)
  process.once('exit', step)
}

/** Makes a folder, which is removed at the end. */
export function temporaryFolder(ending: Ending, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `seatgate-${name}-`))
  onEnd(ending, () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Reports progress. Standard output is for the results. */
export function say(line: string): void {
  console.error(line)
}

/** Ends the process, because of its arguments. */
export function refuse(message: string): never {
  say(message)
  process.exit(2)
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
