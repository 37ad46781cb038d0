import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { MalformedMessage, MAX_DEPTH, ProtobufReader } from '../../../src/lib/protobuf/protobuf-reader.ts'
import { MAX_FIELD_NUMBER } from '../../../src/lib/protobuf/protobuf-wire.ts'
import { anyText } from '../any-text.ts'

const fieldNumbers = fc.integer({ min: 1, max: MAX_FIELD_NUMBER })
const strings = anyText()

function readerAt(bytes: Uint8Array): ProtobufReader {
  const reader = new ProtobufReader(bytes)
  reader.next()
  return reader
}

function readOver(reader: ProtobufReader): void {
  while (reader.next());
}

function refuses(t: Test, read: () => unknown, name = 'refused'): void {
  try {
    read()
  } catch (error) {
    t.ok(error instanceof MalformedMessage, name)
    return
  }
  t.fail(name)
}

/** What an independent writer writes, by the name of its method; the reader has methods of the same names for these. */
const READ = [
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((value) => kind('int64', WireType.Varint, value)),
  strings.map((value) => kind('string', WireType.LengthDelimited, value)),
  fc.uint8Array().map((value) => kind('bytes', WireType.LengthDelimited, value)),
]
const PASSED_OVER = [
  fc.bigInt(0n, 2n ** 64n - 1n).map((value) => kind('uint64', WireType.Varint, value)),
  fc.boolean().map((value) => kind('bool', WireType.Varint, value)),
  fc.nat(0xffff_ffff).map((value) => kind('fixed32', WireType.Bit32, value)),
  fc.bigInt(0n, 2n ** 64n - 1n).map((value) => kind('fixed64', WireType.Bit64, value)),
]
const readable = fc.array(fc.tuple(fieldNumbers, fc.oneof(...READ)))
const messages = fc.array(fc.tuple(fieldNumbers, fc.oneof(...READ, ...PASSED_OVER)))

type Method = 'bytes' | 'int64' | 'string'

function kind<M extends Method | 'bool' | 'fixed32' | 'fixed64' | 'uint64'>(
  method: M,
  wireType: WireType,
  value: bigint | boolean | number | string | Uint8Array,
) {
  return { method, wireType, value }
}

function written(fields: readonly (readonly [number, ReturnType<typeof kind>])[]): Uint8Array {
  const writer = new BinaryWriter()
  for (const [field, { method, wireType, value }] of fields) {
    writer.tag(field, wireType)
    Reflect.apply(writer[method], writer, [value])
  }
  return writer.finish()
}

t.test('reads what an independent writer writes', async () => {
  fc.assert(
    fc.property(readable, (fields) => {
      const reader = new ProtobufReader(written(fields))
      return fields.every(([field, { method, value }]) => {
        if (!reader.next() || reader.field !== field) return false
        const read = reader[method]()
        return read instanceof Uint8Array
          ? Buffer.compare(read, Buffer.from(value as Uint8Array)) === 0
          : Object.is(read, value)
      })
    }),
  )
})

t.test('fields that are not read are passed over', async () => {
  fc.assert(
    fc.property(messages, (fields) => {
      const reader = new ProtobufReader(written(fields))
      const found: number[] = []
      while (reader.next()) found.push(reader.field)
      return found.length === fields.length && fields.every(([field], i) => found[i] === field)
    }),
  )
})

t.test('a message cut off within its last field is refused', async () => {
  const cut = messages
    .filter((fields) => fields.length > 0)
    .chain((fields) => {
      const whole = written(fields)
      const before = written(fields.slice(0, -1)).length
      return fc.integer({ min: before + 1, max: whole.length - 1 }).map((end) => whole.subarray(0, end))
    })
  fc.assert(
    fc.property(cut, (bytes) => {
      try {
        for (const reader = new ProtobufReader(bytes); reader.next(););
      } catch (error) {
        return error instanceof MalformedMessage
      }
      return false
    }),
  )
})

t.test('random bytes are read or refused, in no more steps than there are bytes', async () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom<Method>('string', 'int64', 'bytes'),
      (bytes, method) => {
        const reader = new ProtobufReader(bytes)
        try {
          for (let steps = 0; reader.next(); steps++) {
            if (steps > bytes.length) return false
            reader[method]()
          }
        } catch (error) {
          return error instanceof MalformedMessage
        }
        return true
      },
    ),
  )
})

const REFUSED: Record<string, string> = {
  'field number 0': '00 01',
  'a field number above 2^29 - 1': '80 80 80 80 10 01',
  'a tag of 64 bits': 'f8 ff ff ff ff ff ff ff ff 01 01',
  'a group': '0b 0c',
  'the end of a group': '0c',
  'wire type 6': '0e 01',
  'wire type 7': '0f 01',
  'a varint cut off': '08 80',
  'a varint without a byte': '08',
  'a varint of eleven bytes': '08 80 80 80 80 80 80 80 80 80 80 01',
  'a varint of 65 bits': '08 80 80 80 80 80 80 80 80 80 02',
  'a varint with a needless byte': '08 81 00',
  'a tag with a needless byte': '88 00 01',
  'a length with a needless byte': '0a 81 00 61',
  'a length beyond the end': '0a 02 61',
  'a length of 2^64 - 1': '0a ff ff ff ff ff ff ff ff ff 01 61',
  'a length of 2^53 + 1': '0a 81 80 80 80 80 80 80 10 61',
  'fixed32 cut off': '0d 01 02 03',
  'fixed64 cut off': '09 01 02 03 04 05 06 07',
}

t.test('malformed fields are refused', async (t) => {
  for (const [name, hex] of Object.entries(REFUSED)) {
    const reader = new ProtobufReader(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
    refuses(t, () => readOver(reader), name)
  }
})

t.test('values that are not of their type are refused', async (t) => {
  const varint = (hex: string) => readerAt(Buffer.from(`08${hex}`, 'hex'))
  refuses(t, () => varint('01').string(), 'another wire type')
  for (const hex of ['ff', 'c080', 'eda080', 'f4908080', 'e282'])
    refuses(t, () => readerAt(Buffer.from(`0a0${hex.length / 2}${hex}`, 'hex')).string(), hex)
  t.equal(readerAt(Buffer.from('0a03efbbbf', 'hex')).string(), '\ufeff', 'U+FEFF is a character like others')
})

t.test('messages within messages are read down to a limit', async (t) => {
  let bytes: Uint8Array = new Uint8Array()
  for (let i = 0; i <= MAX_DEPTH; i++)
    bytes = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(bytes).finish()
  let reader = new ProtobufReader(bytes)
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    t.ok(reader.next())
    reader = reader.message()
  }
  t.ok(reader.next())
  refuses(t, () => reader.message())
})

t.test('a field is read once', async (t) => {
  const reader = new ProtobufReader(Buffer.from('0801', 'hex'))
  t.throws(() => reader.int64(), /after next/)
  reader.next()
  t.equal(reader.int64(), 1n)
  t.throws(() => reader.int64(), /after next/)
})

t.test('a fault discloses nothing of the input', async (t) => {
  const reader = readerAt(Buffer.from('0a0768756e746572ff', 'hex'))
  t.throws(() => reader.string(), { message: /^(?!.*hunte)/ })
})
