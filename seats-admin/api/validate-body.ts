/** Validates a body against a schema and reports each fault with a message and a JSON Pointer. */

import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import type { Schema } from '../model/json-schema.ts'
import { type AdminFault, type AdminRefusal, inputInvalid, MAX_FAULTS, pointerTo } from '../model/refusal.ts'
import { formatOf, FORMATS } from './formats.ts'

/**
 * Members and items of a body up to which all faults are reported. For a larger body only the first one is.
 */
const MAX_SIZE = 1000
/** Longest name of a wrong member in a response, in characters. */
export const MAX_ECHO = 128

// The first request of each kind waits for the compiler, which takes 8 ms for the first schema; with its
// optimizations 12 ms, for the same time of a check. The schemas are constants: a test checks them.
const forSpeed = { validateSchema: false, code: { optimize: false } }
const first = withFormats({ allErrors: false, ...forSpeed })
const all = withFormats({ allErrors: true, ...forSpeed })

/** Checks a body: returns the body itself or a refusal. A large one is checked in slices. */
export interface Checker<T> {
  (body: unknown): T | AdminRefusal | Promise<T | AdminRefusal>
  readonly schema: Schema<T>
}

interface ImmediateChecker<T> extends Checker<T> {
  (body: unknown): T | AdminRefusal
}

export function checker<T>(schema: Schema<T>): ImmediateChecker<T> {
  // Compiled when they are needed first: a start does not wait for them.
  let isValid: ValidateFunction<T> | null = null
  let explain: ValidateFunction<T> | null = null
  const check = (body: unknown): T | AdminRefusal => {
    if (body === undefined) return inputInvalid([{ path: '', message: 'a JSON body is required' }])
    isValid ??= first.compile<T>(schema)
    if (!isValid(body)) {
      const validate = sizeOf(body) > MAX_SIZE ? isValid : (explain ??= all.compile<T>(schema))
      validate(body)
      return inputInvalid((validate.errors ?? []).slice(0, MAX_FAULTS).map(faultOf))
    }
    const duplicates = duplicatesIn(body)
    return duplicates.length > 0 ? inputInvalid(duplicates) : body
  }
  return Object.assign(check, { schema })
}

function withFormats(options: Options): Ajv {
  const ajv = new Ajv({ ...options, strict: true, allowUnionTypes: true })
  for (const [name, { accepts }] of Object.entries(FORMATS)) ajv.addFormat(name, accepts)
  return ajv
}

function sizeOf(body: unknown): number {
  if (typeof body !== 'object' || body === null) return 1
  const members: unknown[] = Object.values(body)
  return members.reduce((size: number, value) => size + (Array.isArray(value) ? value.length : 1), 0)
}

function faultOf({ keyword, instancePath, params, message }: ErrorObject): AdminFault {
  if (keyword === 'required') {
    return { path: pointerTo(instancePath, params.missingProperty), message: 'is required' }
  }
  if (keyword === 'additionalProperties') {
    const name: string = params.additionalProperty
    if (name.length > MAX_ECHO) return { path: instancePath, message: 'has an unknown field' }
    return { path: pointerTo(instancePath, name), message: 'is not a known field' }
  }
  if (keyword === 'type')
    return { path: instancePath, message: `must be ${[params.type].flat().join(' or ')}` }
  if (keyword === 'enum')
    return { path: instancePath, message: `must be ${params.allowedValues.join(' or ')}` }
  const otherwise =
    keyword === 'format' ? formatOf(params.format)?.otherwise : (sizeFault(keyword, params) ?? message)
  return { path: instancePath, message: otherwise ?? 'is not valid' }
}

const UNITS: Readonly<Record<string, string>> = {
  maxLength: 'characters',
  maxItems: 'items',
  maxProperties: 'members',
}

/** Undefined: the keyword bounds no size. */
function sizeFault(keyword: string, { limit }: ErrorObject['params']): string | undefined {
  if (limit === 1 && (keyword === 'minLength' || keyword === 'minProperties')) return 'must not be empty'
  const unit = Object.hasOwn(UNITS, keyword) ? UNITS[keyword] : undefined
  return unit === undefined
    ? undefined
    : `must have at most ${limit} ${limit === 1 ? unit.slice(0, -1) : unit}`
}

/** ajv's `uniqueItems` takes quadratic time, or uses an object whose inherited members count as items. */
function duplicatesIn(body: unknown): AdminFault[] {
  const faults: AdminFault[] = []
  for (const [name, value] of Object.entries(body as object)) {
    if (!Array.isArray(value)) continue
    const seen = new Set<unknown>()
    for (const [at, item] of value.entries()) {
      if (seen.has(item) && faults.length < MAX_FAULTS) {
        faults.push({ path: pointerTo(pointerTo('', name), String(at)), message: 'is a duplicate' })
      }
      seen.add(item)
    }
  }
  return faults
}
