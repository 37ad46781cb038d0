/**
 * Coverage of the product's code by a run of tests, from V8's counters: each process, and each that it starts
 * with its environment, writes a file of them at its end. c8 makes the report.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

/** Percent of the statements that the tests execute at least. */
const STATEMENTS = 97

const MEASURED = ['src', 'seats-admin'].map((name) => `${pathToFileURL(resolve(name)).href}/`)

interface ProcessCoverage {
  readonly result: readonly { readonly url: string }[]
}

export class Coverage {
  readonly #folder: string
  readonly #read = new Set<string>()

  /** Begins a new run, and deletes what the folder holds. */
  constructor(folder = join('node_modules', '.cache', 'coverage')) {
    this.#folder = resolve(folder)
    rmSync(this.#folder, { recursive: true, force: true })
    mkdirSync(this.#folder, { recursive: true })
  }

  /** Variables for the process of a test file. Code from the compile cache has no exact counters. */
  get env(): Record<string, string> {
    return { NODE_V8_COVERAGE: this.#folder, NODE_DISABLE_COMPILE_CACHE: '1' }
  }

  /**
   * Keeps the product's part of what has been written since: a process writes megabytes about its packages.
   */
  reduce(): void {
    for (const name of readdirSync(this.#folder)) {
      if (this.#read.has(name)) continue
      const file = join(this.#folder, name)
      const coverage = processCoverage(file)
      // A process may still be at writing.
      if (coverage === null) continue
      const result = coverage.result.filter(({ url }) => MEASURED.some((folder) => url.startsWith(folder)))
      if (result.length === 0) rmSync(file)
      else {
        writeFileSync(file, JSON.stringify({ result }))
        this.#read.add(name)
      }
    }
  }

  /** @returns the text of the report, and whether enough is covered */
  async report(): Promise<{ readonly report: string; readonly isEnough: boolean }> {
    this.reduce()
    const args = ['report', '--merge-async', '--temp-directory', this.#folder, '--reporter', 'text-summary']
    const limits = ['--check-coverage', '--statements', String(STATEMENTS), '--lines', '0', '--reports-dir']
    const child = spawn('c8', [...args, ...limits, `${this.#folder}-report`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'close')
    const output = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = (await ended) as [number | null]
    return { report: output.join(''), isEnough: code === 0 }
  }
}

function processCoverage(file: string): ProcessCoverage | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessCoverage
  } catch {
    return null
  }
}
