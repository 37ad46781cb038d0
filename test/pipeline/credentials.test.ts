import t from 'tap'
import { credentialsOf } from '../../src/pipeline/request-input.ts'
import { fieldTable } from '../support/field-table.ts'

const readCredentials = (pairs: readonly string[]) => credentialsOf(fieldTable(...pairs))

t.test('header lines by name, case-insensitive, each line separate', async (t) => {
  t.same(
    readCredentials([
      'Host',
      'gw.example',
      'X-API-Key',
      'k1',
      'AUTHORIZATION',
      'Bearer a',
      'x-api-key',
      'k2',
      'cookie',
      'a=1',
      'Cookie',
      'b=2',
      'sPaCe',
      's1',
      'space',
      's2,s3',
      'authorization',
      '',
    ]),
    {
      apiKey: ['k1', 'k2'],
      authorization: ['Bearer a', ''],
      cookie: ['a=1', 'b=2'],
      space: ['s1', 's2,s3'],
    },
  )
})

t.test('similar names, and values that look like names', async (t) => {
  t.same(
    readCredentials([
      ...['x_api_key', 'k', 'x-api-keys', 'k', 'proxy-authorization', 'Basic a'],
      ...['accept', 'space', 'space-', 's', 'x-space', 's', 'cookie2', 'a=1'],
    ]),
    { apiKey: [], authorization: [], cookie: [], space: [] },
  )
})

t.test('requests without credentials share no mutable state', async (t) => {
  const first = readCredentials([])
  t.equal(first.apiKey, readCredentials(['a', 'b']).apiKey, 'one shared empty list')
  t.throws(() => (first.apiKey as string[]).push('k'))
  t.same(readCredentials(['x-api-key', 'k']).apiKey, ['k'])
  t.same(readCredentials([]).apiKey, [])
})
