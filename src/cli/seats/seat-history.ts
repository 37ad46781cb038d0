/** The history of a Seat as text: what each entry of the audit added and removed. */

import type { AuditEntry } from '../../../seats-admin/index.ts'
import { printable } from '../../telemetry/readable.ts'
import { shortTime } from '../remote/list-output.ts'

type State = Readonly<Record<string, unknown>> | null

/** The entries as text. @param entries the oldest first */
export function historyText(name: string, entries: readonly AuditEntry[]): string {
  if (entries.length === 0) return `the audit has no entry of Seat ${printable(JSON.stringify(name))}`
  return entries.map(entryText).join('\n')
}

function entryText({ at, action, actor, request_id: request, before, after }: AuditEntry): string {
  const who = actor.name === undefined || actor.name === actor.id ? actor.id : `${actor.name} (${actor.id})`
  const from = request === null ? '' : `\n    request ${printable(request)}`
  const lines = differences(before as State, after as State)
  const body = lines.length === 0 ? ['    nothing changed'] : lines.map((line) => `  ${line}`)
  return [printable(`${shortTime(at)} ${action} by ${who}`) + from, ...body].join('\n')
}

function differences(before: State, after: State): string[] {
  return [
    ...changed('name', before?.['name'], after?.['name']),
    ...listChanges('space', before?.['spaces'], after?.['spaces']),
    ...listChanges('permission', before?.['permissions'], after?.['permissions']),
  ].map(printable)
}

function changed(what: string, before: unknown, after: unknown): string[] {
  if (before === after) return []
  const [old, now] = [before, after].map((value) =>
    typeof value === 'string' ? JSON.stringify(value) : null,
  )
  return [...(old == null ? [] : [`- ${what} ${old}`]), ...(now == null ? [] : [`+ ${what} ${now}`])]
}

function listChanges(what: string, before: unknown, after: unknown): string[] {
  const [old, now] = [textsOf(before), textsOf(after)]
  return [
    ...[...old].filter((text) => !now.has(text)).map((text) => `- ${what} ${text}`),
    ...[...now].filter((text) => !old.has(text)).map((text) => `+ ${what} ${text}`),
  ]
}

function textsOf(value: unknown): Set<string> {
  return new Set(Array.isArray(value) ? value.map(String) : [])
}
