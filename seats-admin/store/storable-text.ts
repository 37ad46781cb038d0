/**
 * Text that both stores hold unchanged: PostgreSQL has neither U+0000 nor lone surrogates, and SQLite changes
 * the latter.
 */

import { inputInvalid } from '../model/refusal.ts'
import type { Writer } from './writer.ts'

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** For lookups: no row has the name or id '', so an unstorable text finds nothing either. */
export function storableOrEmpty(text: string): string {
  return isStorable(text) ? text : ''
}

/**
 * For display texts and canonical JSON, which can't hold these characters either: replaces them by U+FFFD.
 */
export function replaceUnstorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** `by` is from a token and may contain any character. */
export function storableWriter<W extends Writer | null>(writer: W): W {
  return writer === null ? writer : { ...writer, by: replaceUnstorable(writer.by) }
}

/** The refusal of a name with unstorable characters. */
export const nameNotStorable = inputInvalid([
  { path: '/name', message: 'has characters that the store cannot hold' },
])
