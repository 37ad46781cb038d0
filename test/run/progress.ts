/** What is printed while test files run, and at their end. */

import { performance } from 'node:perf_hooks'
import type { FileResult } from './test-file.ts'

/** Milliseconds between two lines. */
const INTERVAL = 5000
/** Milliseconds after which a running file is named. */
const LONG = 10_000
const SLOWEST = 10

export class Progress {
  readonly #files: number
  readonly #startedAt = performance.now()
  readonly #running = new Map<string, number>()
  readonly #results: FileResult[] = []
  readonly #timer: NodeJS.Timeout

  constructor(files: number) {
    this.#files = files
    this.#timer = setInterval(() => this.#printState(), INTERVAL)
  }

  started(file: string): void {
    this.#running.set(file, performance.now())
  }

  ended(result: FileResult): void {
    this.#running.delete(result.file)
    this.#results.push(result)
    if (result.failures.length > 0) console.log(`FAILED ${result.file}`)
  }

  /**
   * Prints the slowest files, skipped tests, notes, the sums, and last of all what failed.
   *
   * @returns whether all passed
   */
  finish(): boolean {
    clearInterval(this.#timer)
    const failed = this.#results.filter(({ failures }) => failures.length > 0)
    console.log(`\nslowest:\n${this.#slowest().join('\n')}\n`)
    const skipped = this.#skipped()
    if (skipped.length > 0) console.log(`skipped:\n${skipped.map(indented).join('\n')}\n`)
    for (const note of this.#results.flatMap(({ notes }) => notes)) console.log(note)
    const sum = (of: (result: FileResult) => number) =>
      this.#results.reduce((total, each) => total + of(each), 0)
    const lost = sum(({ failures }) => failures.length)
    console.log(
      `assertions: ${sum(({ passed }) => passed)} passed, ${lost} failed, ${skipped.length} skipped`,
    )
    console.log(`files: ${this.#files - failed.length} passed, ${failed.length} failed`)
    console.log(`time: ${seconds(performance.now() - this.#startedAt)}`)
    for (const { file, failures } of failed)
      console.log(`\nin ${file}:\n\n${failures.map(indented).join('\n\n')}`)
    return failed.length === 0
  }

  #printState(): void {
    const now = performance.now()
    const long = [...this.#running].filter(([, since]) => now - since > LONG)
    const names = long.map(([file, since]) => `${file} (${seconds(now - since)})`)
    const still = names.length === 0 ? '' : `, still running: ${names.join(', ')}`
    console.log(`${this.#results.length} of ${this.#files} files, ${seconds(now - this.#startedAt)}${still}`)
  }

  #skipped(): string[] {
    const sorted = this.#results.toSorted((a, b) => (a.file < b.file ? -1 : 1))
    return sorted.flatMap(({ file, skipped }) => skipped.map((test) => `${file}: ${test}`))
  }

  #slowest(): string[] {
    const sorted = this.#results.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST)
    return sorted.map(({ file, ms }) => `${seconds(ms).padStart(8)} ${file}`)
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < LONG ? 1 : 0)} s`
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}
