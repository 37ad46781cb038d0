/** `seatgate refused`: who was refused what, and why, by the log. */

import { type RefusedGroup, RefusedRequests } from '../access/refused-requests.ts'
import { printable } from '../telemetry/readable.ts'
import { JSON_OUTPUT } from './arguments.ts'
import { defineCommand } from './command.ts'
import { pastMoment } from './remote/moment.ts'
import { findLogs, LOGS, STDIN } from './replay/log-files.ts'
import { Progress } from './replay/progress.ts'
import { INTERRUPTED, readAll } from './replay/read-all.ts'
import { fold } from './screen.ts'

export const refused = defineCommand({
  name: 'refused',
  summary: 'Shows who was refused what, why and how often, according to the log of the gateway.',
  details:
    'Each group shows the id of its last request; `seatgate explain --from LOG ID` decides that request again.',
  positionals: [{ ...LOGS, default: STDIN }],
  options: {
    since: {
      value: 'TIME',
      description: 'only requests from this time on: a duration such as 10m (ago), or a date-time',
    },
    tenant: { value: 'T', description: 'only requests of this tenant' },
    user: { value: 'U', description: 'only requests of this user, or of the API key with this id' },
    json: JSON_OUTPUT,
  },
  exits: { 0: 'the list was printed, even if it is empty', 1: 'a log cannot be read to its end' },
  example: 'seatgate refused --since 10m --tenant acme gateway.log',
  run: async ({ values, positionals }, terminal) => {
    const { tenant = null, user = null } = values
    const since = values.since === undefined ? null : pastMoment('--since', values.since)
    const sizes = await findLogs(positionals)
    const requests = new RefusedRequests({ since, tenant, user })
    const ended = await readAll(requests, positionals, new Progress(process.stderr, sizes), terminal)
    if (ended === 'interrupted') return INTERRUPTED
    if (requests.isOther)
      terminal.printError('note: no line is a request of an access log: name logs that the gateway wrote')
    await terminal.print(values.json ? JSON.stringify(requests.result()) : asText(requests))
    return ended === 'failed' ? 1 : 0
  },
})

function asText(requests: RefusedRequests): string {
  const { refused, requests: all, groups, in_further_groups: further = 0 } = requests.result()
  const summary = `${refused} of ${all} requests ${refused === 1 ? 'was' : 'were'} refused`
  const rest = further === 0 ? [] : [`and ${further} in further groups`]
  return [...groups.map(groupAsText), ...rest, summary].join('\n')
}

function groupAsText(group: RefusedGroup): string {
  const { code, method, route, space, tenant, user, count, last, request_id: id, detail } = group
  const { host, path } = group
  const caller = tenant === null ? 'an unknown caller' : `${user ?? '?'} of ${tenant}`
  const where = space === null ? '' : ` in ${space}`
  const remedy = remedyOf(group)
  const lines = [
    fold(printable(`${count} × ${code}  ${route ?? method ?? 'no request'}  ${caller}${where}`), '', INDENT),
    ...(detail === null ? [] : [fold(printable(detail), INDENT, INDENT)]),
    ...(remedy === null ? [] : [fold(printable(`allowed by ${remedy}`), INDENT, INDENT)]),
    fold(printable(`last ${last}, ${id}${path === null ? '' : `, ${host ?? ''}${path}`}`), INDENT, INDENT),
  ]
  return `${lines.join('\n')}\n`
}

const INDENT = '    '

/** What would have allowed the request; null if no right is missing, and the detail says what is. */
function remedyOf({ code, permission, space, granted_in: spaces }: RefusedGroup): string | null {
  if (code === 'permission_denied' || code === 'no_seat_in_space') {
    const held = spaces.length === 0 ? '' : `; its Seats hold it in ${spaces.join(', ')}`
    return `a Seat with ${permission} in ${space}${held}`
  }
  return REMEDIES[code] ?? null
}

const REMEDIES: Readonly<Record<string, string>> = {
  credentials_missing: 'an API key, a token or a sign-in',
  token_expired: 'a new token, or a refresh',
  token_revoked: 'a new sign-in, or a token that was issued after the revocation',
  token_not_yet_valid: 'the right clock where the token was issued',
  token_invalid: 'a valid token, or a new sign-in',
  api_key_expired: 'a new API key',
  api_key_revoked: 'a new API key',
  api_key_invalid: 'an API key that the tenant has',
  caller_blocked: 'the end of the block: seatgate users unblock',
  tenant_mismatch: 'a credential of the tenant that the route is for',
  space_required: 'a space in the request',
  route_not_found: 'an entry for the path in a route table',
  method_not_allowed: 'an entry for the method in a route table',
  rate_limited: 'fewer requests, or a higher rate limit',
}
