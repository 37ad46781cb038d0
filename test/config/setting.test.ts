/** One declaration of a key gives its schema, its type, its value and default, and the places of its faults. */

import t from 'tap'
import { openDocument } from '../../src/config/open-document.ts'
import {
  asWritten,
  file,
  list,
  map,
  mapOf,
  optional,
  required,
  size,
  text,
} from '../../src/config/setting.ts'

const example = file('Example', 'A file.', {
  headerBytes: size('Maximum bytes.', '1KiB', '1MiB', { default: '32KiB', examples: ['16KiB'] }),
  owner: required(text('The owner.', asWritten, { placeholder: 'nobody', pattern: '^[a-z]+$' })),
  maxBody: text('A limit without a default.', asWritten, {}),
  keys: list('Secrets.', asWritten, { privacy: 'secret', distinct: true }),
  tls: optional(map('TLS.', { caFile: text('Authorities.', asWritten, { default: 'ca.pem' }) })),
  teams: mapOf(map('A team.', { size: size('Its size.', '1B', '9B', { default: '2B' }) }), 'Teams by name.'),
})

function open(yaml: string) {
  const { document, root } = openDocument('a.yaml', { text: yaml }, example.schema, {})
  const values = example.of(root)
  const at = ({ place: { line, column } }: { place: { line: number; column: number } }) => `${line}:${column}`
  return { values, faults: document.faults.map(at), warnings: document.warnings.map(at) }
}

t.test('the schema has the key, the bounds, and a pattern that permits variables', async (t) => {
  const { required: needed, properties = {} } = example.schema
  t.same(needed, ['owner'])
  t.match(properties['header_bytes'], {
    title: 'size',
    default: '32KiB',
    description: 'Maximum bytes. From 1KiB to 1MiB.',
  })
  t.equal(properties['owner']?.pattern, '^[a-z]+$|\\$\\{')
  t.equal(properties['keys']?.items?.writeOnly, true)
})

t.test('values and defaults have their types', async (t) => {
  const { values, faults, warnings } = open('owner: ann\nkeys: [a, b]\nteams: { x: {} }\n')
  const headerBytes: number = values.headerBytes
  const maxBody: string | null = values.maxBody
  t.same([headerBytes, values.owner, maxBody, values.tls], [32_768, 'ann', null, null])
  t.same([...values.teams], [['x', { size: 2 }]])
  t.same([faults, warnings], [[], ['2:8', '2:11']], 'secrets in the file are warned of')
  t.same(open('owner: ann\ntls: {}\n').values.tls, { caFile: 'ca.pem' })
})

t.test('a fault has the place of its value, and a placeholder or default replaces the value', async (t) => {
  const { values, faults } = open('header_bytes: 1B\nowner: 5\nkeys: [a, a]\ntls: x\n')
  t.same(faults.sort(), ['1:15', '2:8', '3:11', '4:6'])
  t.same([values.headerBytes, values.owner, values.keys, values.tls], [32_768, 'nobody', ['a'], null])
})
