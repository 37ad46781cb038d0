/**
 * Problem documents (RFC 9457) of a gateway as text. Places in a request body (JSON Pointer, RFC 6901) are
 * put into words: `permission 4 ("trainings:lst")`.
 */

import { quote } from '../../config/invalid-value.ts'
import { printable } from '../../telemetry/readable.ts'
import { CommandFailed } from '../command.ts'
import { pointerParts } from '../../../seats-admin/model/refusal.ts'

type Problem = NonNullable<ReturnType<typeof problemOf>>

/** The gateway has refused the request. */
export class GatewayRefusal extends CommandFailed {
  readonly problem: Problem

  /** Makes the message. @param body the body of the request, which has the values of faulty elements */
  constructor(problem: Problem, body: unknown) {
    super(textOf(problem, body))
    this.problem = problem
  }
}

/** A fault of route tables at an instance. Without a place in a file, `line` is 0. */
export interface FaultOfTables {
  readonly instance: string
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** Reads a problem document. @returns null if the body is no problem document of a gateway */
export function problemOf(status: number, body: object | null) {
  if (body === null || !('code' in body) || typeof body.code !== 'string') return null
  const { code, detail, title, request_id: requestId, errors, faults } = body as Record<string, unknown>
  return {
    status,
    code: String(code),
    detail: String(detail ?? title ?? ''),
    requestId: String(requestId ?? ''),
    errors: (Array.isArray(errors) ? errors : []) as readonly { path: string; message: string }[],
    /** The faults of route tables. */
    faults: (Array.isArray(faults) ? faults : []) as readonly FaultOfTables[],
  }
}

function textOf({ status, code, detail, requestId, errors }: Problem, body: unknown): string {
  const faults = errors.map(
    ({ path, message }) => `${placeInWords(`${path}`, body) || 'the body'} ${message}`,
  )
  const id = requestId === '' ? '' : `, request ${requestId}`
  const lines = [
    `${detail} (${status} ${code}${id})`,
    ...faults,
    ...(code === 'route_not_found' ? [ELSEWHERE] : []),
  ]
  return lines.map(printable).join('\n  ')
}

/** The step if a gateway has its endpoints elsewhere: those that commands use are built in, so they exist. */
const ELSEWHERE =
  'The gateway has its own endpoints elsewhere: give its api.prefix as the path of --url or SEATGATE_URL, and one of its api.hosts as the host'

/** The noun for an element of each list in the bodies that commands send. */
const ELEMENTS: Readonly<Record<string, string>> = {
  permissions: 'permission',
  spaces: 'space',
  seats: 'Seat',
  versions: 'version of Seat',
  revoke: 'API key',
  block: 'user',
}

/**
 * A place in words.
 *
 * @param pointer such as `/permissions/3`
 * @param body the body of the request, without credentials; if present, elements are shown with their values
 * @returns '' for the body as a whole
 */
export function placeInWords(pointer: string, body?: unknown): string {
  const tokens = pointerParts(pointer)
  const words: string[] = []
  let value = body
  /** The list or map that the next token leads into. */
  let container: string | null = null
  for (const [at, token] of tokens.entries()) {
    const isLast = at === tokens.length - 1
    const within: string | null = container
    const named = within !== null && isMap(within, value, isLast && /^\d+$/.test(token))
    value = memberOf(value, token)
    container = within === null && Object.hasOwn(ELEMENTS, token) ? token : null
    if (within !== null) words.push(elementOf(ELEMENTS[within] ?? '', token, named, value))
    else if (container === null || isLast) words.push(isName(token) ? token : quote(token))
  }
  return words.join(', ')
}

function elementOf(noun: string, token: string, named: boolean, value: unknown): string {
  if (named) return `${noun} ${quote(token)}`
  const shown = typeof value === 'string' ? ` (${quote(value)})` : ''
  return `${noun} ${Number(token) + 1}${shown}`
}

/**
 * Whether a container is a map: API keys have lists of Seats, files a map.
 *
 * @param value undefined: unknown
 */
function isMap(container: string, value: unknown, endsInNumber: boolean): boolean {
  if (value !== undefined) return !Array.isArray(value)
  return container === 'versions' || (container === 'seats' && !endsInNumber)
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function isName(token: string): boolean {
  return /^[a-z][a-z0-9_]*$/i.test(token)
}
