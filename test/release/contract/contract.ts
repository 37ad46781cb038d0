/** What a version promises, as data: what `docs/versions.md` lists, without meanings and texts. */

import { readFileSync } from 'node:fs'
import { LABELS, metricsOf } from '../../../docs/generate/metrics.ts'
import { scrapeNewGateway } from '../../../docs/generate/running.ts'
import { editorSchemas } from '../../../docs/generate/schema.ts'
import { WITHDRAWN, type Withdrawn } from '../../../docs/generate/withdrawn.ts'
import type { Accepted } from '../../../src/cli/arguments.ts'
import { everyCommand } from '../../../src/cli/commands.ts'
import { exitsOf } from '../../../src/cli/help.ts'
import { builtInOperations } from '../../../src/composition.ts'
import { ONLINE_FAULTS, WARNINGS } from '../../../src/config/faults.ts'
import { errors } from '../../../src/model/errors.ts'
import { openApiDocument } from '../../../src/pipeline/openapi/document.ts'
import type { Api } from './api.ts'
import { loggedNames } from './log-names.ts'
import type { ContractSchema } from './schemas.ts'

type Members<V> = Readonly<Record<string, V>>

export interface ContractCommand extends Pick<Accepted, 'positionals' | 'options'> {
  readonly name: string
  readonly exits: readonly string[]
}

/** Each member is a file of the release's data. */
export interface Contract {
  /** The schemas of the files that users write. */
  readonly configuration: Members<ContractSchema>
  readonly api: Api
  readonly commands: readonly ContractCommand[]
  readonly names: {
    /** The codes of errors with their status. */
    readonly errors: Members<number>
    /** The codes of `check`, which comments in files name. */
    readonly warnings: readonly string[]
    readonly log: readonly string[]
    readonly events: readonly string[]
    /** The headers for upstreams. */
    readonly headers: readonly string[]
    readonly metrics: Members<{ readonly type: string; readonly labels: readonly string[] }>
    readonly withdrawn: readonly Withdrawn[]
  }
}

export async function currentContract(): Promise<Contract> {
  const commands = await everyCommand()
  const contract = {
    configuration: Object.fromEntries(editorSchemas.map(([file]) => [nameOf(file), schemaIn(file)])),
    api: openApiDocument(builtInOperations()),
    commands: commands.map((command) => ({
      name: command.name,
      positionals: command.positionals,
      options: command.options,
      exits: exitsOf(command).map(([number]) => number),
    })),
    names: {
      errors: Object.fromEntries(Object.entries(errors).map(([code, { status }]) => [code, status])),
      warnings: [...Object.keys(WARNINGS), ...Object.keys(ONLINE_FAULTS)],
      ...loggedNames(),
      metrics: metricsIn(await scrapeNewGateway()),
      withdrawn: WITHDRAWN,
    },
  }
  return JSON.parse(JSON.stringify(contract, withoutTexts)) as Contract
}

function nameOf(file: string): string {
  return /([a-z]+)\.schema\.json$/.exec(file)?.[1] ?? file
}

function schemaIn(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function metricsIn(exposition: string): Contract['names']['metrics'] {
  const own = metricsOf(exposition).filter(({ name }) => name.startsWith('seatgate_'))
  return Object.fromEntries(own.map(({ name, type }) => [name, { type, labels: LABELS[name] ?? [] }]))
}

/** Texts for people, whose words no version promises. */
const TEXTS = new Set([
  'description',
  'summary',
  'examples',
  'tags',
  'info',
  'servers',
  'completes',
  '$schema',
])
/** The bounds of a duration or size stand in its description. */
const RANGE = /\bFrom (\w+) to (\w+)\.$/

/** A replacer of JSON.stringify. The names of members of a map are no keywords. */
function withoutTexts(this: unknown, key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  if (key === 'properties' || key === 'options') return value
  const kept = Object.entries(value).filter(([name]) => !TEXTS.has(name))
  const range = RANGE.exec('description' in value ? String(value.description) : '')
  return { ...Object.fromEntries(kept), ...(range === null ? {} : { range: range.slice(1) }) }
}
