/** Validates a body against a schema and reports each fault with a message and a JSON Pointer. */

import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { isPermission } from '../model/permission.ts'
import { type AdminFault, type AdminRefusal, inputInvalid, MAX_FAULTS } from '../model/refusal.ts'
import { isSpaceId } from '../model/space.ts'
import { parseDateTime } from './date-time.ts'
import { isName } from './name.ts'
import { pointerTo } from './pointer.ts'

interface Format {
  readonly accepts: (text: string) => boolean
  readonly otherwise: string
}

const FORMATS: Readonly<Record<string, Format>> = {
  name: {
    accepts: isName,
    otherwise:
      'must be 1 to 256 characters, without control characters, and without leading or trailing white space',
  },
  space: {
    accepts: isSpaceId,
    otherwise: 'must be a space id: up to 128 of A-Z a-z 0-9 . _ ~ -, beginning with a letter or a digit',
  },
  permission: {
    accepts: isPermission,
    otherwise: 'must be <resource>:<operation>, each of A-Z a-z 0-9 . _ -, or exactly *',
  },
  expiry: {
    accepts: (text) => parseDateTime(text) !== null,
    otherwise: 'must be a date-time with an offset (RFC 3339)',
  },
}

/** Members and items of a body up to which all faults are reported. For a larger body only the first one is. */
const MAX_SIZE = 1000
/** Longest name of an unknown member in a response, in characters. */
const MAX_ECHO = 128

const first = withFormats({ allErrors: false })
const all = withFormats({ allErrors: true })

/** @returns a function that returns the body itself or a refusal */
export function checker<T>(schema: object): (body: unknown) => T | AdminRefusal {
  const isValid = first.compile<T>(schema)
  // Compiled when it is needed first: a start does not wait for it.
  let explain: ValidateFunction<T> | null = null
  return (body) => {
    if (body === undefined) return inputInvalid([{ path: '', message: 'a JSON body is required' }])
    if (!isValid(body)) {
      const validate = sizeOf(body) > MAX_SIZE ? isValid : (explain ??= all.compile<T>(schema))
      validate(body)
      return inputInvalid((validate.errors ?? []).slice(0, MAX_FAULTS).map(faultOf))
    }
    const duplicates = duplicatesIn(body)
    return duplicates.length > 0 ? inputInvalid(duplicates) : body
  }
}

function withFormats(options: Options): Ajv {
  const ajv = new Ajv({ ...options, strict: true })
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
  const otherwise = keyword === 'format' ? FORMATS[params.format]?.otherwise : message
  return { path: instancePath, message: otherwise ?? 'is not valid' }
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
