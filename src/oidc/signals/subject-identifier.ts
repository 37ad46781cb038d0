/** Subject identifiers (RFC 9493), as providers name users and sessions. */

import { isJsonObject } from '../../lib/json.ts'

export type UserIdentifier =
  | { readonly format: 'iss_sub'; readonly iss: string; readonly sub: string }
  | { readonly format: 'email'; readonly email: string }
  | { readonly format: 'opaque'; readonly id: string }

/** `unsupported`: well-formed, and of a format that the gateway cannot resolve. */
export type SubjectFault = 'malformed' | 'unsupported'

const MEMBERS = { iss_sub: ['iss', 'sub'], email: ['email'], opaque: ['id'] } as const

export function readIdentifier(value: unknown): UserIdentifier | SubjectFault {
  if (!isJsonObject(value) || !isName(value.format)) return 'malformed'
  const { format, iss = '', sub = '', email = '', id = '' } = value
  if (!isSupported(format)) return 'unsupported'
  if (!MEMBERS[format].every((name) => isName(value[name]))) return 'malformed'
  if (format === 'iss_sub') return { format, iss: String(iss), sub: String(sub) }
  return format === 'email' ? { format, email: String(email) } : { format, id: String(id) }
}

function isSupported(format: string): format is keyof typeof MEMBERS {
  return Object.hasOwn(MEMBERS, format)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed()
}
