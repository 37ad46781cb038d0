/** A gateway with Seats and users, of whom `seatgate grants` tells. */

import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { startWorld } from '../../support/world.ts'
import { afar, signedIn } from './from-afar.ts'

export const YEAR_2099 = '2099-01-01T00:00:00Z'

export async function startReview(t: Test) {
  const world = await startWorld(t)
  const viewer = await world.seat('Viewer', ['main', 'dev'], ['trainings:list'])
  await world.seat('=Editor', ['main'], ['trainings:list', 'trainings:create'])
  await signedIn(world, { anna: 'anna@example.com', bob: 'bob@example.com' }, [viewer])
  return { world, viewer, ...afar(t, world, world.keys['acme'] ?? '') }
}

export type Review = Awaited<ReturnType<typeof startReview>>

export async function grantsOf({ world }: Review) {
  return (await world.admin('GET', '/v1/grants')).json.data as { id: string; user: string; seat: string }[]
}

/** Puts an x at the end of the lines that match. */
export function mark(file: string, ...patterns: RegExp[]): string {
  const text = readFileSync(file, 'utf8')
  const lines = text
    .split('\r\n')
    .map((line) => (patterns.some((each) => each.test(line)) ? `${line}x` : line))
  writeFileSync(file, lines.join('\r\n'))
  return file
}
