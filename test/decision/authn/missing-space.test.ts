/** What a request without a space is told: of the source that its route has, and of no other. */

import t from 'tap'
import { NO_CREDENTIALS } from '../../../src/model/authorization-request.ts'
import { spaceOf } from '../../../src/decision/authn/request-space.ts'
import { PathParams } from '../../../src/model/decision.ts'
import { errors, Refusal } from '../../../src/model/errors.ts'
import { SPACE_FIELD, type SpaceSource } from '../../../src/model/space-source.ts'

const credentials = NO_CREDENTIALS
const request = {
  ...{ method: 'GET', target: '/', host: null, credentials, fields: { linesOf: () => [] } },
  browser: { method: 'GET', rawHeaders: [], upgrade: false },
}
const context = { params: PathParams.none, query: '', authority: 'a' }
const SOURCES: readonly (readonly [SpaceSource, RegExp])[] = [
  [{ kind: 'header', name: SPACE_FIELD }, /one Space header/],
  [{ kind: 'header', name: 'x-team' }, /one header x-team/],
  [{ kind: 'query', name: 'team' }, /one query parameter team/],
  [{ kind: 'host_label', label: 2 }, /host has no label/],
]

t.test('title and detail', async (t) => {
  t.notMatch(errors.space_required.title, /header/i, 'the title is that of every source')
  for (const [source, expected] of SOURCES) {
    const refusal = spaceOf(request, source, context)
    if (!(refusal instanceof Refusal)) throw new Error(`${source.kind}: ${refusal}`)
    t.match(refusal, { code: 'space_required', detail: expected })
    if (source.kind !== 'header') t.notMatch(refusal.detail, /header/i, source.kind)
  }
})
