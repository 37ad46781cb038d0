/** What a real codec reads from the answers. */

import t from 'tap'
import { deniedResponse, okResponse } from '../../../src/external-authorization/envoy-grpc/check-response.ts'
import { deserialized } from './envoy.ts'

t.test('an allow', async (t) => {
  const { status, ok_response, denied_response } = deserialized(
    okResponse({ set: ['a', 'b', 'empty', '', 'cookie', 'c=\xc3\xa4'], remove: ['x', 'y'] }),
  )
  t.equal(status?.code, 0)
  t.notOk(denied_response)
  t.same(ok_response?.headers_to_remove, ['x', 'y'])
  t.match(ok_response?.headers, [
    { header: { key: 'a', value: 'b' }, append_action: 2, keep_empty_value: false },
    { header: { key: 'empty', value: '' }, append_action: 2, keep_empty_value: true },
    { header: { key: 'cookie', value: 'c=ä' }, append_action: 2 },
  ])
  t.match(deserialized(okResponse({ set: [], remove: [] })), { status: { code: 0 } })
})

t.test('a denial', async (t) => {
  const headers = ['set-cookie', 'a=b', 'set-cookie', 'c=d']
  const denial = { grpcStatus: 16, status: 401, headers, body: '{"detail":"ä"}' }
  const { status, ok_response, denied_response } = deserialized(deniedResponse(denial))
  t.equal(status?.code, 16)
  t.notOk(ok_response)
  t.equal(denied_response?.status.code, 401)
  t.equal(denied_response?.body, '{"detail":"ä"}')
  const actions = denied_response?.headers.map(({ append_action }) => append_action)
  t.same(actions, [2, 0], 'the second cookie is added to the first')
})

t.test('a denial has a status that denies', async (t) => {
  t.throws(() => deniedResponse({ grpcStatus: 0, status: 401, headers: [], body: '' }))
})
