/** The answer of `who-can`, printed page by page: a tenant may have a million Seats. */

import { type asked, type Holder, isForTenant, type Question } from '../access/permission-holders.ts'
import { printable } from '../telemetry/readable.ts'
import { fold } from './screen.ts'

type Pages = AsyncIterable<readonly Holder[]>

/** In the order of the pages. */
const LISTS = [
  ['seat', 'seats', 'Seats'],
  ['api-key', 'api_keys', 'API keys'],
  ['user', 'users', 'Users, by their latest sign-in'],
] as const

/** One JSON object, a line for each item. */
export async function* holdersAsJson(head: ReturnType<typeof asked>, pages: Pages): AsyncGenerator<string> {
  let open = 0
  let first = true
  yield `${JSON.stringify(head).slice(0, -1)},"seats":[`
  const begin = (kind: Holder['kind']): string[] => {
    const lines: string[] = []
    while (LISTS[open]?.[0] !== kind) {
      open++
      lines.push(`],"${LISTS[open]?.[1]}":[`)
      first = true
    }
    return lines
  }
  for await (const page of pages) {
    const lines = page.flatMap(({ kind, view }) => {
      const before = begin(kind)
      const line = `${first ? ' ' : ','}${JSON.stringify(view)}`
      first = false
      return [...before, line]
    })
    if (lines.length > 0) yield lines.join('\n')
  }
  yield [...begin('user'), ']}'].join('\n')
}

export async function* holdersAsText(
  question: Question,
  tenant: string,
  pages: Pages,
): AsyncGenerator<string> {
  yield printable(heading(question))
  if (!isForTenant(question, tenant)) {
    yield `tenant ${tenant}: none of its callers can, as the route is for those of tenant ${question.route?.tenant}`
    return
  }
  if (question.permission === null || FREE[question.permission] !== undefined) return
  const where = question.space === null ? 'in any space' : `in ${question.space}`
  yield `tenant ${tenant}, ${where}`
  const counts = { seat: 0, 'api-key': 0, user: 0 }
  for await (const page of pages)
    for (const holder of page) {
      if (counts[holder.kind]++ === 0) yield `\n${LISTS.find(([kind]) => kind === holder.kind)?.[2]}`
      yield printable(`  ${lineOf(holder, question.space === null)}`)
    }
  const summary = `${counted(counts.seat, 'Seat')}, ${counted(counts['api-key'], 'API key')}, ${counted(counts.user, 'user')}`
  yield fold(`${summary}. Callers with tokens of other issuers are not known.`, '\n', '')
}

const FREE: Readonly<Record<string, string>> = {
  public: 'is public: every caller can, without a credential',
  authenticated: 'is open to every caller with a valid credential, whatever the Seats',
}

function heading({ method, host, path, route, permission }: Question): string {
  if (method === null) return `who holds ${permission}`
  if (route === null || permission === null) return `no route matches ${method} ${host ?? ''}${path}`
  const place = route.place === null ? 'built in' : `${route.place.file}:${route.place.line}`
  return `${route.id} (${place}) ${FREE[permission] ?? `requires ${permission}`}`
}

/** Names on one line. */
const MOST_NAMES = 5

function lineOf({ kind, view }: Holder, anySpace: boolean): string {
  if (kind === 'seat') {
    const where = anySpace ? ` in ${namesOf(view.spaces)}` : ''
    return `"${view.name}"${where}${view.by === '*' ? ' (holds *)' : ''}`
  }
  const seats = `by ${namesOf(view.seats.map((name) => `"${name}"`))}`
  if (kind === 'user') {
    const seen = view.last_sign_in === null ? '' : `, ${view.last_sign_in}`
    const blocked = view.blocked ? ', BLOCKED' : ''
    return `${view.sub}${view.email === null ? '' : ` <${view.email}>`} ${seats}${seen}${blocked}`
  }
  const expiry = view.expires_at === null ? '' : `, expires ${view.expires_at}`
  const used = view.last_used_at === null ? '' : `, last used ${view.last_used_at}`
  return `"${view.name}" ${view.id} ${seats}${expiry}${used}`
}

function namesOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  return `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
