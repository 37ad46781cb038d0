/** Files of Seats and saved plans, as arguments of a command. */

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sourceOf } from '../../config/read-file.ts'
import { readSeatsFile } from '../../config/seats-file.ts'
import { quote } from '../../config/invalid-value.ts'
import { type Positional, UsageError } from '../arguments.ts'
import { CommandFailed, type Terminal } from '../command.ts'
import type { Plan, SeatItem, SeatsBody } from '../remote/endpoint-answers.ts'

/** The version of the format of saved plans. */
const FORM = 2

export interface SavedPlan {
  readonly seatgate_plan: typeof FORM
  /** The space in which the plan was made. */
  readonly space: string
  readonly body: SeatsBody & { readonly versions: Plan['versions'] }
  readonly plan: Plan
  /** The SHA-256 of the other members: an edited plan could do something else than a person approved. */
  readonly digest: string
}

/** An input of a command: a file, or standard input. */
export interface Input {
  /** The path, or the name of standard input in messages. */
  readonly file: string
  /** The content of standard input; null for a file. */
  readonly bytes: Buffer | null
}

export const SEATS_FILES = {
  name: 'FILE',
  description: 'files with Seats of one tenant, folders with such files, or - for standard input',
  multiple: true,
  completes: 'file',
} as const satisfies Positional

/**
 * The inputs, with the files of folders in the order of their paths.
 *
 * @param key the value of `--api-key`, which may also name standard input
 * @throws UsageError, CommandFailed
 */
export async function inputsOf(
  paths: readonly string[],
  key: string | undefined,
  terminal: Terminal,
): Promise<Input[]> {
  const dashes = [...paths, ...(key === undefined ? [] : [key])].filter((each) => each === '-')
  if (dashes.length > 1) throw new UsageError('- is given twice: standard input can be read once')
  const inputs: Input[] = []
  for (const each of paths) {
    if (each === '-') inputs.push({ file: 'standard input', bytes: await terminal.readInput() })
    else for (const file of await filesAt(each)) inputs.push({ file, bytes: null })
  }
  return inputs
}

const SEATS = /\.(?:ya?ml|json)$/i

async function filesAt(path: string): Promise<string[]> {
  const stats = await stat(path).catch(() => null)
  if (stats?.isDirectory() !== true) return [path]
  const files = await filesBelow(path)
  if (files.length === 0)
    throw new CommandFailed(
      `${path} has no file that ends in .yaml, .yml or .json: name a file or another folder`,
    )
  return files.toSorted()
}

/**
 * The files of a folder and its folders, except hidden ones. The Seats of a file that is skipped here are not
 * wanted: `--prune` deletes them.
 */
async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) files.push(...(await filesBelow(path)))
    // A link counts too: a volume of Kubernetes has its files as links into a hidden folder.
    else if (SEATS.test(entry.name)) files.push(path)
  }
  return files
}

/**
 * The Seats of all files, which are of one tenant.
 *
 * @throws ConfigError, CommandFailed
 */
export async function readSeats(inputs: readonly Input[], env: NodeJS.ProcessEnv): Promise<SeatsBody> {
  let tenant: string | null = null
  const seats = new Map<string, { file: string; item: SeatItem }>()
  for (const { file, bytes } of inputs) {
    const read = await readSeatsFile(file, env, bytes === null ? undefined : sourceOf(bytes))
    tenant ??= read.tenant
    if (tenant !== read.tenant)
      throw new CommandFailed(
        `${file} is of tenant ${read.tenant}, and ${inputs[0]?.file} of tenant ${tenant}`,
      )
    for (const { name, ...item } of read.seats) {
      const other = seats.get(name)
      if (other !== undefined)
        throw new CommandFailed(`Seat ${quote(name)} is in ${other.file} and in ${file}: keep one`)
      seats.set(name, { file, item })
    }
  }
  // A name may be __proto__: fromEntries makes it an ordinary member.
  return {
    tenant: tenant ?? '',
    seats: Object.fromEntries([...seats].map(([name, { item }]) => [name, item])),
  }
}

/**
 * Reads a saved plan.
 *
 * @returns null if the input is anything else
 * @throws CommandFailed if the plan was edited
 */
export function readSavedPlan([input, ...others]: readonly Input[]): SavedPlan | null {
  if (input === undefined || others.length > 0) return null
  const { file, bytes } = input
  let value: unknown
  try {
    value = JSON.parse(bytes === null ? readFileSync(file, 'utf8') : bytes.toString())
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
