/** What a version takes away from the promise of another one. */

import { compareApis } from './api.ts'
import type { Contract, ContractCommand } from './contract.ts'
import { type Break, type ContractSchema, SchemaComparison } from './schemas.ts'

type Members<V> = Readonly<Record<string, V>>

/** @param version of `after`: what `before` withdraws until that version may be gone */
export function breaksOf(before: Contract, after: Contract, version: string): Break[] {
  const due = before.names.withdrawn.filter(({ until }) => isAtLeast(version, until)).map(({ name }) => name)
  return [
    ...configurationBreaks(before.configuration, after.configuration),
    ...compareApis(before.api, after.api),
    ...commandBreaks(before.commands, after.commands),
    ...nameBreaks(before.names, after.names),
  ].filter(
    ({ name }) =>
      !due.some((each) => name === each || name.startsWith(`${each}.`) || name.startsWith(`${each} `)),
  )
}

/** Compares versions such as `1.2.3`. */
export function isAtLeast(version: string, other: string): boolean {
  return version.localeCompare(other, 'en', { numeric: true }) >= 0
}

function configurationBreaks(before: Members<ContractSchema>, after: Members<ContractSchema>): Break[] {
  return Object.entries(before).flatMap(([file, schema]) =>
    new SchemaComparison('input').compare(`${file}: `, schema, after[file] ?? {}),
  )
}

function commandBreaks(before: readonly ContractCommand[], after: readonly ContractCommand[]): Break[] {
  return before.flatMap((command) => {
    const name = `seatgate ${command.name}`
    const now = after.find((each) => each.name === command.name)
    if (now === undefined) return gone([name])
    const exits = command.exits.filter((code) => !now.exits.includes(code))
    return [
      ...gone(exits.map((code) => `${name} exit code ${code}`)),
      ...argumentBreaks(name, optionsOf(command), optionsOf(now)),
      ...argumentBreaks(name, positionalsOf(command), positionalsOf(now)),
    ]
  })
}

interface Argument {
  readonly takesValue: boolean
  readonly isRequired: boolean
  readonly isMultiple: boolean
  readonly default: string | undefined
  readonly choices: readonly string[] | undefined
}

function optionsOf({ options }: ContractCommand): Members<Argument> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value, required = false, multiple = false, ...more }]) => [
      `--${name}`,
      argumentOf({ takesValue: value !== undefined, isRequired: required, isMultiple: multiple }, more),
    ]),
  )
}

/** By their places, since users do not write the names. */
function positionalsOf({ positionals = [] }: ContractCommand): Members<Argument> {
  return Object.fromEntries(
    positionals.map(({ optional = false, multiple = false, ...more }, index) => [
      `argument ${index + 1}`,
      argumentOf(
        { takesValue: true, isRequired: !optional && more.default === undefined, isMultiple: multiple },
        more,
      ),
    ]),
  )
}

function argumentOf(
  own: Pick<Argument, 'takesValue' | 'isRequired' | 'isMultiple'>,
  { default: fallback, choices }: { readonly default?: string; readonly choices?: readonly string[] },
): Argument {
  return { ...own, default: fallback, choices }
}

function argumentBreaks(command: string, before: Members<Argument>, after: Members<Argument>): Break[] {
  const kept = Object.entries(before).flatMap(([name, old]) => {
    const now = after[name]
    const whats = now === undefined ? ['it is gone'] : changesOf(old, now)
    return whats.map((what) => ({ name: `${command} ${name}`, what }))
  })
  const required = Object.keys(after).filter((name) => after[name]?.isRequired && !before[name]?.isRequired)
  return [
    ...kept,
    ...required.map((name) => ({ name: `${command} ${name}`, what: 'it is required, which it was not' })),
  ]
}

function changesOf(old: Argument, now: Argument): string[] {
  const lost =
    now.choices === undefined
      ? []
      : (old.choices ?? ['any text']).filter((each) => !now.choices?.includes(each))
  return [
    ...(old.takesValue === now.takesValue
      ? []
      : [`it ${now.takesValue ? 'takes a value' : 'takes no value'} now`]),
    ...(old.isMultiple && !now.isMultiple ? ['it takes one value, not several'] : []),
    ...(old.default === undefined || old.default === now.default
      ? []
      : [`its default ${old.default} is now ${now.default ?? 'none'}`]),
    ...lost.map((each) => `it no longer takes ${each}`),
  ]
}

function nameBreaks(before: Contract['names'], after: Contract['names']): Break[] {
  const lists = (['log', 'events', 'headers', 'warnings'] as const).flatMap((kind) =>
    gone(before[kind].filter((name) => !after[kind].includes(name)).map((name) => `${KINDS[kind]} ${name}`)),
  )
  return [
    ...lists,
    ...errorBreaks(before.errors, after.errors),
    ...metricBreaks(before.metrics, after.metrics),
  ]
}

const KINDS = { log: 'log field', events: 'log event', headers: 'header', warnings: 'warning' }

function errorBreaks(before: Members<number>, after: Members<number>): Break[] {
  return Object.entries(before).flatMap(([code, status]) => {
    const now = after[code]
    if (now === undefined) return gone([`error ${code}`])
    return now === status ? [] : [{ name: `error ${code}`, what: `its status ${status} is now ${now}` }]
  })
}

function metricBreaks(before: Contract['names']['metrics'], after: Contract['names']['metrics']): Break[] {
  return Object.entries(before).flatMap(([metric, { type, labels }]) => {
    const name = `metric ${metric}`
    const now = after[metric]
    if (now === undefined) return gone([name])
    return [
      ...(now.type === type ? [] : [{ name, what: `its type ${type} is now ${now.type}` }]),
      ...gone(labels.filter((label) => !now.labels.includes(label)).map((label) => `${name} label ${label}`)),
    ]
  })
}

function gone(names: readonly string[]): Break[] {
  return names.map((name) => ({ name, what: 'it is gone' }))
}
