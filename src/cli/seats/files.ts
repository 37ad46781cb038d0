/** Files of Seats, and saved plans, as a command is given them. */

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readSeatsFile } from '../../config/seats-file.ts'
import { quote } from '../../config/invalid-value.ts'
import { CommandFailed } from '../command.ts'
import type { Plan, SeatItem, SeatsBody } from '../remote/resources.ts'

/** The form of saved plans. */
const FORM = 2

export interface SavedPlan {
  readonly seatgate_plan: typeof FORM
  /** Where the plan was made. */
  readonly space: string
  readonly body: SeatsBody & { readonly versions: Plan['versions'] }
  readonly plan: Plan
  /** SHA-256 of the rest. A person decides by the plan as it is shown: a file that was edited could do something else. */
  readonly digest: string
}

/** The Seats of all files, which are of one tenant. @throws ConfigError, CommandFailed */
export async function readSeats(files: readonly string[], env: NodeJS.ProcessEnv): Promise<SeatsBody> {
  let tenant: string | null = null
  const seats = new Map<string, { file: string; item: SeatItem }>()
  for (const file of files) {
    const read = await readSeatsFile(file, env)
    tenant ??= read.tenant
    if (tenant !== read.tenant)
      throw new CommandFailed(`${file} is of tenant ${read.tenant}, and ${files[0]} of tenant ${tenant}`)
    for (const { name, ...item } of read.seats) {
      const other = seats.get(name)
      if (other !== undefined)
        throw new CommandFailed(`Seat ${quote(name)} is in ${other.file} and in ${file}: keep one`)
      seats.set(name, { file, item })
    }
  }
  // A name may be __proto__: fromEntries makes it a member like any other.
  return {
    tenant: tenant ?? '',
    seats: Object.fromEntries([...seats].map(([name, { item }]) => [name, item])),
  }
}

/** @returns null where the file is none. @throws CommandFailed where it is not as it was written */
export function readSavedPlan(file: string): SavedPlan | null {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null || !('seatgate_plan' in value)) return null
  if (value.seatgate_plan !== FORM)
    throw new CommandFailed(`${file} is a plan of another version of seatgate: plan again`)
  const { digest, ...saved } = value as unknown as SavedPlan
  if (digest !== digestOf(saved))
    throw new CommandFailed(`${file} was changed after it was written: plan again`)
  return { ...saved, digest }
}

export function planFile(body: SeatsBody, plan: Plan): string {
  const saved: Omit<SavedPlan, 'digest'> = {
    seatgate_plan: FORM,
    space: plan.space,
    body: { ...body, versions: plan.versions },
    plan,
  }
  return `${JSON.stringify({ ...saved, digest: digestOf(saved) }, null, 1)}\n`
}

function digestOf(saved: object): string {
  return hash('sha256', JSON.stringify(saved), 'hex')
}
