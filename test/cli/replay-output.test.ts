/** The result of a replay on a terminal of 80 columns, as JSON and as Markdown. */

import t from 'tap'
import { Tally } from '../../src/access/replay/replayed-log.ts'
import { replayAsJson, replayAsMarkdown, replayAsText } from '../../src/cli/replay/replay-output.ts'

function change(
  tally: Tally,
  from: string,
  to: string,
  route: string | null,
  user: string | null,
  count: number,
): void {
  const seats = { by: null, issuedAt: 0, names: [], ids: [], truncated: false }
  const caller = user === null ? null : { tenant: 'acme', user, method: 'bearer' as const, seats }
  for (let turn = 0; turn < count; turn++) tally.changed({ from, to, method: 'GET', route, caller })
}

function example(): Tally {
  const tally = new Tally()
  for (let turn = 0; turn < 1200; turn++) tally.same()
  change(tally, 'allow', 'permission_denied', 'GET /v1/trainings', 'alice', 7)
  change(tally, 'allow', 'permission_denied', 'GET /v1/trainings', 'bob', 3)
  change(tally, 'allow', 'route_not_found', null, null, 2)
  change(tally, 'token_expired', 'allow', 'ANY /v1/*', null, 4)
  change(tally, 'route_not_found', 'method_not_allowed', null, null, 1)
  tally.unjudged('credential_not_read')
  tally.unjudged('credential_not_read')
  tally.unjudged('other_line')
  return tally
}

t.test('as text', async (t) => {
  t.equal(
    replayAsText(example().result()),
    `allow → deny: 12 requests
         10  GET /v1/trainings
             allow → permission_denied
             acme/alice 7, acme/bob 3
          2  GET, no entry
             allow → route_not_found
             no known caller 2

deny → allow: 4 requests
          4  GET by entry ANY /v1/*
             token_expired → allow
             no known caller 4

deny → deny, with another code: 1 request
          1  GET, no entry
             route_not_found → method_not_allowed
             no known caller 1

not judged
          2  credential_not_read
             no credential was read then, and the route needs one now
          1  other_line
             the line is not a request in the access log

1,220 requests: 1,200 same, 17 changed, 3 not judged`,
  )
  const same = new Tally()
  same.same()
  t.equal(replayAsText(same.result()), '1 request: 1 same, 0 changed, 0 not judged')
  t.match(replayAsText(new Tally().result()), /^0 requests/)
})

t.test('fits on a terminal', async (t) => {
  const tally = new Tally()
  for (let index = 0; index < 40; index++)
    for (let user = 0; user < 6; user++)
      change(
        tally,
        'allow',
        'permission_denied',
        `GET /v1/r${index}`,
        `user-${user}@some.example.com`,
        40 - index,
      )
  const lines = replayAsText(tally.result()).split('\n')
  for (const line of lines) t.ok(line.length <= 80, line)
  t.ok(lines.length < 60, `${lines.length} lines`)
  t.ok(lines.includes('  … and 30 more groups: --json has them'))
  t.equal(JSON.parse(replayAsJson(tally.result())).groups.length, 40)
})

const HOSTILE = 'x\u001b]0;title\u0007\u009b2J\u202e\n::error::\u2028|`<b>@team'

t.test('texts of a log control no terminal', async (t) => {
  const tally = new Tally()
  change(tally, 'allow', 'permission_denied', `GET /${HOSTILE}`, HOSTILE, 2)
  const result = tally.result()
  // oxlint-disable-next-line no-control-regex
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/
  for (const text of [replayAsText(result), replayAsMarkdown(result), replayAsJson(result)])
    t.notMatch(text, control)
  t.same(JSON.parse(replayAsJson(result)), result, 'JSON has the text all the same')
  t.equal(replayAsText(result).split('\n').length, 6)
  const [row = ''] = replayAsMarkdown(result)
    .split('\n')
    .filter((line) => line.startsWith('| 2'))
  t.equal(row.replaceAll('\\|', '').split('|').length, 6, row)
  t.match(row, /\\<b\\>\\@team 2 \|$/)
})

t.test('as Markdown', async (t) => {
  const text = replayAsMarkdown(example().result())
  t.match(text, '### Replay: 1,220 requests: 1,200 same, 17 changed, 3 not judged\n\n| requests |')
  t.match(
    text,
    '| 10 | ⛔ `allow` → `permission_denied` | `GET /v1/trainings` | acme/alice 7<br>acme/bob 3 |',
  )
  t.match(text, '| 4 | ⚠️ `token_expired` → `allow` | `GET by entry ANY /v1/*` | no known caller 4 |')
  t.match(text, '- 2 not judged, `credential_not_read`: no credential was read')
  const many = new Tally()
  for (let index = 0; index < 120; index++)
    change(many, 'allow', 'permission_denied', `GET /${index}`, 'a', 1)
  t.match(replayAsMarkdown(many.result()), '… and 20 more groups: `seatgate replay --json` has them.')
})
