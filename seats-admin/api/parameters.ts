/**
 * Parses the query of an endpoint: known parameters, each with its syntax, and each at most once unless it
 * may repeat.
 */

import type { ParameterDescription } from '../model/endpoint-description.ts'
import { type JsonSchema, text } from '../model/json-schema.ts'
import { type AdminFault, type AdminRefusal, inputInvalid, MAX_FAULTS, pointerTo } from '../model/refusal.ts'
import { isUlid, ULID } from '../model/ulid.ts'
import { FORMATS } from './formats.ts'

interface Parameter extends ParameterDescription {
  readonly accepts: (text: string) => boolean
  /** The message for other texts. */
  readonly otherwise: string
}

export type Parameters = Readonly<Record<string, Parameter>>

/** All values of a parameter that repeats; the value of any other one, or null if it is absent. */
export type Values<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends { readonly repeats: true } ? readonly string[] : string | null
}

/** A whole number without sign and leading zeros. */
function wholeNumber(
  description: string,
  range: { readonly minimum: number; readonly maximum: number; readonly default: number },
): Parameter {
  const { minimum, maximum } = range
  return {
    schema: { type: 'integer', ...range, description },
    accepts: (value) => /^(?:0|[1-9][0-9]{0,8})$/.test(value) && +value >= minimum && +value <= maximum,
    otherwise: `must be a whole number from ${minimum} to ${maximum}`,
  }
}

export const ID: JsonSchema = { pattern: ULID.source, examples: ['01KAJ0Z1V5Q8T2C0W7M3E9R4XD'] }

/** The characters of a token: whatever a token names can be written. */
const MAX_SUB = 16 * 1024

/** The `sub` of a user in a body. */
export const SUB: JsonSchema = {
  minLength: 1,
  maxLength: MAX_SUB,
  format: 'well-formed',
  examples: ['alice'],
}

/** @param what completes "must be the id of" */
export function idOf(what: string, description: string): Parameter {
  return { schema: text(description, ID), accepts: isUlid, otherwise: `must be the id of ${what}` }
}

/** Any text but the empty one. */
export function someText(description: string, otherwise = 'must not be empty'): Parameter {
  return { schema: text(description, { minLength: 1 }), accepts: (value) => value !== '', otherwise }
}

/** A text of a format of bodies. */
export function formatted(name: keyof typeof FORMATS, description: string): Parameter {
  const { accepts, otherwise, keywords } = FORMATS[name]
  return { schema: text(description, keywords), accepts, otherwise }
}

const DEFAULT_LIMIT = 20

export const limitParameter = wholeNumber('Maximum number of items on the page.', {
  minimum: 1,
  maximum: 100,
  default: DEFAULT_LIMIT,
})

export const PAGE = {
  limit: limitParameter,
  after: idOf(
    'the last item before the page',
    'The id of the last item on the previous page; the item may have been deleted since.',
  ),
}

export function limitOf({ limit }: { readonly limit: string | null }): number {
  return limit === null ? DEFAULT_LIMIT : Number(limit)
}

export function pageOf(query: Values<typeof PAGE>): { limit: number; after: string | null } {
  return { limit: limitOf(query), after: query.after }
}

/** @param query without the `?` */
export function readParameters<const P extends Parameters>(
  query: string,
  known: P,
): Values<P> | AdminRefusal {
  if (hasMoreThan(MOST_PARAMETERS, query))
    return inputInvalid([{ path: '', message: `a query may have at most ${MOST_PARAMETERS} parameters` }])
  const parameters = new URLSearchParams(query)
  const faults: AdminFault[] = []
  for (const name of new Set(parameters.keys())) {
    const message = faultOf(parameters.getAll(name), Object.hasOwn(known, name) ? known[name] : undefined)
    if (message !== null) faults.push({ path: pointerTo('', name), message })
  }
  if (faults.length > 0) return inputInvalid(faults.slice(0, MAX_FAULTS))
  const values = Object.entries<Parameter>(known).map(([name, { repeats }]) => [
    name,
    repeats ? parameters.getAll(name) : parameters.get(name),
  ])
  return Object.fromEntries(values) as Values<P>
}

/** The time to find a value grows with the number of parameters. */
const MOST_PARAMETERS = 64

function hasMoreThan(most: number, query: string): boolean {
  let count = 1
  for (let at = query.indexOf('&'); at >= 0 && count <= most; at = query.indexOf('&', at + 1)) count++
  return count > most
}

function faultOf(values: readonly string[], parameter: Parameter | undefined): string | null {
  if (parameter === undefined) return 'is not a known parameter'
  if (values.length > 1 && !parameter.repeats) return 'must not occur more than once'
  return values.every(parameter.accepts) ? null : parameter.otherwise
}
