/** The comparison of answers with the OpenAPI document finds each kind of difference. */

import t from 'tap'
import { problemBody } from '../../../src/http/server/problem.ts'
import { type ErrorCode, Refusal } from '../../../src/model/errors.ts'
import { assertConforms, type Exchanged, faultOf } from '../../support/openapi.ts'

const ID = '01KAJ0Z1V5Q8T2C0W7M3E9R4XD'
const SEAT = {
  id: ID,
  name: 'Viewer',
  spaces: ['main'],
  permissions: ['a:b'],
  created_by: 'alice',
  created_at: '2026-11-21T11:00:00.000Z',
  updated_at: '2026-11-21T11:00:00.000Z',
}

const PROBLEM = { 'content-type': 'application/problem+json', etag: undefined }

function answer(more: Partial<Exchanged> & { readonly value?: unknown } = {}): Exchanged {
  const { value = SEAT, headers = {}, ...others } = more
  return {
    method: 'GET',
    target: `/v1/seats/${ID}`,
    status: 200,
    body: JSON.stringify(value),
    ...others,
    headers: { 'content-type': 'application/json', 'x-request-id': '1', etag: '"1"', ...headers },
  }
}

function refusal(code: ErrorCode, more: Partial<Exchanged> = {}): Exchanged {
  const { status } = new Refusal(code, 'No.')
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {}
  const headers = { ...PROBLEM, ...challenge }
  return answer({ status, headers, body: problemBody(new Refusal(code, 'No.'), '1'), ...more })
}

function same(name: string, exchanged: Exchanged, fault: string | RegExp | null): void {
  t.test(name, async (t) => {
    const found = faultOf(exchanged)
    if (fault === null) t.equal(found, null)
    else t.match(found, fault)
  })
}

same('a Seat', answer(), null)
same('a Seat that was updated', answer({ value: { ...SEAT, updated_by: 'bob' } }), null)
same('HEAD has no body', answer({ method: 'HEAD', body: '' }), null)
same('no operation', answer({ target: '/v1/trainings', status: 299 }), null)

same('a stray field', answer({ value: { ...SEAT, stray: 1 } }), /must NOT have additional properties/)
same('a missing field', answer({ value: { ...SEAT, updated_at: undefined } }), /'updated_at'/)
same('another type', answer({ value: { ...SEAT, spaces: 'main' } }), /spaces must be array/)
same('a time of another form', answer({ value: { ...SEAT, created_at: 'today' } }), /date-time/)
same('no JSON', answer({ body: '{' }), 'is not JSON')
same('no body', answer({ body: '' }), 'is not JSON')
same('an undeclared status', answer({ status: 201 }), 'status 201 is not declared')
same('an undeclared media type', answer({ headers: { 'content-type': 'text/plain' } }), 'text/plain')
same('a missing header', answer({ headers: { 'x-request-id': undefined } }), 'X-Request-Id is missing')
same('a missing tag', answer({ headers: { etag: undefined } }), 'ETag is missing')
same(
  'a tag where none is declared',
  answer({ target: '/v1/seats', value: { data: [], has_more: false, count: 0 } }),
  'ETag is not declared',
)
same(
  'a challenge where none is declared',
  refusal('seat_not_found', { headers: { ...PROBLEM, 'www-authenticate': 'Bearer' } }),
  'WWW-Authenticate is not declared',
)
same('an item with a stray field', listed({ stray: 1 }), /data\/0 must NOT have additional/)
same('items', listed({}), null)

same('a refusal', refusal('seat_not_found'), null)
same('a challenge', refusal('token_expired'), null)
same('a code of another operation', refusal('block_not_found'), /code must be equal to one of/)
same('a code at another status', refusal('seat_not_found', { status: 403 }), /must be equal to/)
same('a status of other operations', refusal('seat_name_taken'), 'status 409 is not declared')
same(
  'a refusal without a challenge',
  refusal('token_expired', { headers: {} }),
  'WWW-Authenticate is missing',
)
same(
  'a stray field of a refusal',
  refusal('seat_not_found', {
    body: JSON.stringify({
      ...JSON.parse(problemBody(new Refusal('seat_not_found', 'No.'), '1')),
      stack: 'Error',
    }),
  }),
  /must NOT have additional properties/,
)
same(
  'a field of a refusal that belongs to another',
  refusal('seat_not_found', { body: JSON.stringify({ type: 'x', code: 'seat_not_found' }) }),
  /must have required property/,
)
same('a body where none is declared', deleted('{}'), 'a body is not declared')
same('no body where none is declared', deleted(''), null)

same('an accepted body that the document refuses', updated({ name: 'a\n' }), /accepted, although the body/)
same('an accepted body with an unknown field', updated({ colour: 'red' }), /accepted, although the body/)
same('an accepted body', updated({ name: 'B', spaces: [] }), null)
same(
  'an accepted parameter that the document refuses',
  { ...listed({}), target: '/v1/seats?limit=101' },
  /accepted, although parameter limit/,
)

t.test('the clients of the tests fail on a difference', async (t) => {
  t.throws(() => assertConforms(answer({ status: 201 })), /OpenAPI: GET .* answered 201: status 201/)
  t.doesNotThrow(() => assertConforms(answer()))
})

function listed(more: object): Exchanged {
  const { id, name, spaces, permissions, created_at } = SEAT
  const item = {
    id,
    name,
    spaces,
    permissions,
    created_at,
    member_count: 0,
    member_count_exact: false,
    ...more,
  }
  const value = { data: [item], has_more: false, count: 1 }
  return answer({ target: '/v1/seats?limit=5', value, headers: { etag: undefined } })
}

function deleted(body: string): Exchanged {
  return answer({ method: 'DELETE', status: 204, body, headers: { etag: undefined } })
}

function updated(body: object): Exchanged {
  const sent = { type: 'application/json; charset=utf-8', body: JSON.stringify(body) }
  return answer({ method: 'PUT', sent })
}
