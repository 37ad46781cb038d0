/** Runs the commands of a page of the manual in a folder like a clone. */

import type { Test } from 'tap'
import { reservePort } from '../support/servers/ports.ts'
import { cloneFolder, seatsIn } from './clone.ts'
import { blocksOf, pages, placeOf } from './pages.ts'
import { differences } from './same.ts'
import { runSteps, type Step, statusesOf, stepsOf } from './script.ts'

/** Begins without a store: it makes its own. */
const FROM_NOTHING = 'README.md'
const PORTS = ['8080', '9090', '9001']

/** They take half of the time of all, in a file of their own. */
export const ADMINISTRATION: readonly string[] = ['docs/administration.md', 'docs/cli.md']

/** Pages with commands. */
export const pagesWithCommands = pages.filter((page) =>
  stepsOf(page).some(({ block }) => block.language !== 'yaml'),
)

export async function runPage(t: Test, page: string): Promise<void> {
  const steps = stepsOf(page)
  const folder = cloneFolder(t)
  if (page !== FROM_NOTHING) await seatsIn(folder)
  const ran = await runSteps(t, folder, steps, await otherPorts(t))
  t.equal(ran.code, 0, ran.err)
  t.equal(ran.out.length, steps.length, 'every step was reached')
  t.same(ran.statuses, statusesOf(steps), ran.err)
  for (const [at, step] of steps.entries()) check(t, step, ran.out[at] ?? '')
}

async function otherPorts(t: Test): Promise<(text: string) => string> {
  const ports = new Map<string, number>()
  for (const port of PORTS) ports.set(port, await reservePort(t))
  return (text) => text.replaceAll(/\b\d{4}\b/g, (port) => String(ports.get(port) ?? port))
}

/** The output of a console block, and the JSON block that stands behind commands. */
function check(t: Test, { block, shown }: Step, out: string): void {
  if (shown !== null) t.same(out.trim().split('\n'), shown.trim().split('\n'), placeOf(block))
  const next = blocksOf(block.page).find(({ line }) => line > block.line)
  if (block.language === 'sh' && next?.language === 'json' && next.notRun === null)
    t.same(differences(JSON.parse(next.text), JSON.parse(out)), [], placeOf(next))
}
