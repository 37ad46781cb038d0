/** Problem documents (RFC 9457) of a gateway, as text. */

import { printable } from '../../telemetry/readable.ts'
import { CommandFailed } from '../command.ts'

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

  constructor(problem: Problem) {
    super(textOf(problem))
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

function textOf({ status, code, detail, requestId, errors }: Problem): string {
  const faults = errors.map(({ path, message }) => `${path === '' ? 'the body' : path} ${message}`)
  const id = requestId === '' ? '' : `, request ${requestId}`
  return (
    printable(`${detail} (${status} ${code}${id})`) + faults.map((each) => `\n  ${printable(each)}`).join('')
  )
}
