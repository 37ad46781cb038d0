/** Where a search begins, so that each commit and each day explores schedules that none has explored before. */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A seed has 32 bits. */
export const SEEDS = 2 ** 32

export interface FirstSeed {
  readonly seed: number
  /** For people: what it is made of. */
  readonly origin: string
}

/** The same for one commit on one day (UTC); of a tree without git, for one day. */
export function firstSeed(commit = head(), now = new Date()): FirstSeed {
  const day = now.toISOString().slice(0, 10)
  const origin = commit === null ? day : `commit ${commit.slice(0, 12)} on ${day}`
  const seed = createHash('sha256')
    .update(`${commit ?? ''} ${day}`)
    .digest()
    .readUInt32BE()
  return { seed, origin }
}

function head(): string | null {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 10_000,
    }).trim()
  } catch {
    return null
  }
}

/** A seed that failed once, and why. */
export interface Regression {
  readonly seed: number
  readonly reason: string
}

/** Lines `SEED REASON`; empty lines and those that begin with `#` do not count. */
export function regressions(
  text = readFileSync(new URL('regressions.txt', import.meta.url), 'utf8'),
): Regression[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [, seed = '', reason = ''] = /^(\d+) (.+)$/.exec(line) ?? []
    if (!(Number(seed) < SEEDS) || reason === '') throw new Error(`not "SEED REASON": ${line}`)
    return { seed: Number(seed), reason }
  })
}

/** The command that repeats a schedule. */
export function commandOf(seed: number, variant: string | null = null): string {
  return `npm run test:soak -- --seed ${seed}${variant === null ? '' : ` --variant "${variant}"`}`
}
