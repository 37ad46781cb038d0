/**
 * Faults of the surroundings: a setting is valid, but what it names is missing, taken, broken or refuses the
 * gateway. Each message has the form of a configuration fault, `file:line:column: key: cause. What to do.`,
 * and no secret.
 */

import type { SettingSource } from '../../config/config.ts'
import { ConfigError, type Fault, formatFault } from '../../config/faults.ts'

/** What is wrong and what to do, each without the full stop at its end. */
export interface Finding {
  readonly cause: string
  readonly advice: string
}

/** Why the store is unavailable. */
export interface Reason {
  /** The `code` of StoreUnavailable; '' for a cause without one. */
  readonly code: string
  /** The store and the cause, without credentials. */
  readonly message: string
}

/** Ends a start with exit code 1. */
export class SurroundingsFault extends ConfigError {
  constructor(source: SettingSource, finding: Finding) {
    super([faultAt(source, finding)])
  }
}

/** The message for a log line of a gateway that goes on or waits. */
export function describeFault(source: SettingSource, finding: Finding): string {
  return formatFault(faultAt(source, finding))
}

/** @returns place and message, with the key and what to do */
export function faultAt({ key, place, isDefault }: SettingSource, { cause, advice }: Finding): Fault {
  return { place, message: `${key}${isDefault ? ' (default)' : ''}: ${cause}. ${advice}.` }
}

/** What to edit: the variable that the value is, or the key, with the variables in the value. */
export function settingOf({ key, variables, isVariable }: SettingSource): string {
  const names = variables.map((name) => `\${${name}}`)
  return (isVariable ? names : [key, ...names]).join(' or ')
}

/** The code of an error, such as ENOENT of the operating system; '' without one. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
}

/** Names this user by the numeric id, as users in a container often have no name. */
export function thisUser(): string {
  const uid = process.getuid?.()
  return uid === undefined ? 'this user' : `this user (uid ${uid})`
}
