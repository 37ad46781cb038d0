/** Problem documents (RFC 9457) of a gateway, as text. */

import { printable } from '../../telemetry/readable.ts'
import { CommandFailed } from '../command.ts'
import { placeInWords } from './place.ts'

export interface Problem {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly requestId: string
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

/** The gateway has refused the request. */
export class GatewayRefusal extends CommandFailed {
  readonly problem: Problem

  /** @param body what was sent: its faults are told by their values */
  constructor(problem: Problem, body: unknown) {
    super(textOf(problem, body))
    this.problem = problem
  }
}

/** @returns null where the body is no problem document of a gateway */
export function problemOf(status: number, body: object | null): Problem | null {
  if (body === null || !('code' in body) || typeof body.code !== 'string') return null
  const { code, detail, title, request_id: requestId, errors } = body as Record<string, unknown>
  return {
    status,
    code: String(code),
    detail: String(detail ?? title ?? ''),
    requestId: String(requestId ?? ''),
    errors: Array.isArray(errors) ? errors : [],
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

/** The endpoints that commands ask are built in: a gateway without them has them at another place. */
const ELSEWHERE =
  'The gateway has its own endpoints elsewhere: give its api.prefix as the path of --url or SEATGATE_URL, and one of its api.hosts as the host'
