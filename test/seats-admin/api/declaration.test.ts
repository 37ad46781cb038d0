/** An endpoint does not compile without its declaration, nor with one that differs from its handler. */

import t from 'tap'
import { endpoint } from '../../../seats-admin/api/admin-endpoint.ts'
import { limitParameter } from '../../../seats-admin/api/parameters.ts'
import { checker } from '../../../seats-admin/api/validate-body.ts'
import { isRefusal } from '../../../seats-admin/index.ts'
import { count, object, strictObject, text, view } from '../../../seats-admin/model/json-schema.ts'

const schema = object({ name: text('A name.') }, { size: count('A size.') })
const item = view(schema, (name: string) => ({ name, ...(name === '' ? {} : { size: 1 }) }))
const caller = {
  tenant: 'acme',
  by: 'alice',
  actor: { kind: 'user', name: null },
  requestId: 'test',
  scope: { space: 'admin', admin: true, all: true, permissions: ['*'] },
} as const

const declared = {
  method: 'PUT',
  path: '/v1/items/{id}',
  permission: 'items:update',
  operation: 'updateItem',
  summary: 'Updates an item.',
  details: 'Items have versions.',
  params: { id: text('The id.') },
  query: { limit: limitParameter },
  body: checker(strictObject({ name: text('A name.') })),
  answers: { 200: schema, 204: null },
  codes: ['seat_not_found'],
} as const

const items = endpoint({
  ...declared,
  conditional: true,
  async handle({ params: { id }, query: { limit }, body: { name }, ifMatch }) {
    if (limit === null) return { status: 204 }
    return { status: 200, body: item(`${id} ${limit} ${name} ${ifMatch}`) }
  },
})

t.test('the handler gets what was checked', async (t) => {
  const call = (query: string, body: unknown, ifMatch: readonly string[] = []) =>
    items.handle({ params: { id: '7' }, query, body, ifMatch, caller })
  t.same(await call('limit=5', { name: 'A' }, ['"1"']), { status: 200, body: { name: '7 5 A "1"', size: 1 } })
  t.same(await call('', { name: 'A' }), { status: 204 })
  for (const [path, query, body, ...tags] of [
    ['/limit', 'limit=0', { name: 'A' }],
    ['/other', 'other=1', { name: 'A' }],
    ['/name', '', {}],
    ['', '', undefined],
    ['', '', { name: 'A' }, 'no tag'],
  ] as const) {
    const refused = await call(query, body, tags)
    t.same(isRefusal(refused) && refused.faults?.map((fault) => fault.path), [path], `${path} ${query}`)
  }
})

t.test('what does not compile', async (t) => {
  const { codes: _codes, ...withoutCodes } = declared
  const { answers: _answers, ...withoutAnswers } = declared
  const { params: _params, ...withoutParams } = declared
  const attempts = [
    // @ts-expect-error -- no codes
    () => endpoint({ ...withoutCodes, handle: async () => ({ status: 204 }) }),
    // @ts-expect-error -- no answers
    () => endpoint({ ...withoutAnswers, handle: async () => ({ status: 204 }) }),
    // @ts-expect-error -- a segment of the path without a description
    () => endpoint({ ...withoutParams, handle: async () => ({ status: 204 }) }),
    // @ts-expect-error -- a code that no refusal of administration has
    () => endpoint({ ...declared, codes: ['upstream_timeout'], handle: async () => ({ status: 204 }) }),
    // @ts-expect-error -- a status that is not declared
    () => endpoint({ ...declared, handle: async () => ({ status: 201 }) }),
    // @ts-expect-error -- another answer than the declared one
    () => endpoint({ ...declared, handle: async () => ({ status: 200, body: { nam: 'A' } }) }),
    // @ts-expect-error -- a body where none is declared
    () => endpoint({ ...declared, handle: async () => ({ status: 204, body: { name: 'A' } }) }),
    // @ts-expect-error -- a parameter that is not declared
    () => endpoint({ ...declared, handle: async ({ query: { after } }) => ({ status: after ? 204 : 204 }) }),
    // @ts-expect-error -- a field of the body that is not declared
    () => endpoint({ ...declared, handle: async ({ body: { size } }) => ({ status: size ? 204 : 204 }) }),
    // @ts-expect-error -- a view without a required field
    () => view(schema, (size: number) => ({ size })),
    // @ts-expect-error -- a view with a field that the schema does not have
    () => view(schema, (name: string) => ({ name, ...(name === '' ? {} : { stray: 1 }) })),
  ]
  t.equal(attempts.length, 11, 'tsc checks them')
})
