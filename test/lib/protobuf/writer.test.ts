import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import fc from 'fast-check'
import t from 'tap'
import { ProtobufReader } from '../../../src/lib/protobuf/protobuf-reader.ts'
import { MAX_FIELD_NUMBER } from '../../../src/lib/protobuf/protobuf-wire.ts'
import { ProtobufWriter } from '../../../src/lib/protobuf/protobuf-writer.ts'
import { anyText } from '../any-text.ts'

const fieldNumbers = fc.integer({ min: 1, max: MAX_FIELD_NUMBER })

/** One field, written by both writers. */
interface Step {
  ours: (writer: ProtobufWriter) => void
  theirs: (writer: BinaryWriter) => void
}

/** An independent writer writes the same bytes. */
function step<V>(
  values: fc.Arbitrary<V>,
  ours: (writer: ProtobufWriter, field: number, value: V) => void,
  wireType: WireType,
  theirs: (writer: BinaryWriter, value: V) => void,
): fc.Arbitrary<Step> {
  return fc.tuple(fieldNumbers, values).map(([field, value]) => ({
    ours: (writer) => ours(writer, field, value),
    theirs: (writer) => theirs(writer.tag(field, wireType), value),
  }))
}

const uint64s = fc.bigInt(0n, 2n ** 64n - 1n)
const leaves = fc.oneof(
  step(
    uint64s,
    (w, f, v) => w.uint(f, v),
    WireType.Varint,
    (w, v) => w.uint64(v),
  ),
  step(
    fc.maxSafeNat(),
    (w, f, v) => w.uint(f, v),
    WireType.Varint,
    (w, v) => w.uint64(v),
  ),
  step(
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    (w, f, v) => w.int(f, v),
    WireType.Varint,
    (w, v) => w.int64(v),
  ),
  step(
    fc.maxSafeInteger(),
    (w, f, v) => w.int(f, v),
    WireType.Varint,
    (w, v) => w.int64(v),
  ),
  step(
    fc.boolean(),
    (w, f, v) => w.bool(f, v),
    WireType.Varint,
    (w, v) => w.bool(v),
  ),
  step(
    fc.nat(0xffff_ffff),
    (w, f, v) => w.fixed32(f, v),
    WireType.Bit32,
    (w, v) => w.fixed32(v),
  ),
  step(
    uint64s,
    (w, f, v) => w.fixed64(f, v),
    WireType.Bit64,
    (w, v) => w.fixed64(v),
  ),
  step(
    anyText({ size: 'large' }),
    (w, f, v) => w.string(f, v),
    WireType.LengthDelimited,
    (w, v) => w.string(v),
  ),
  step(
    fc.uint8Array({ maxLength: 400 }),
    (w, f, v) => w.bytes(f, v),
    WireType.LengthDelimited,
    (w, v) => w.bytes(v),
  ),
)

const { steps } = fc.letrec<{ step: Step; steps: Step[] }>((tie) => ({
  step: fc.oneof({ maxDepth: 4 }, leaves, fc.tuple(fieldNumbers, tie('steps')).map(nested)),
  steps: fc.array(tie('step'), { maxLength: 6 }),
}))

function nested([field, within]: [number, Step[]]): Step {
  return {
    ours: (writer) => writer.message(field, (inner) => within.forEach(({ ours }) => ours(inner))),
    theirs: (writer) => {
      writer.tag(field, WireType.LengthDelimited).fork()
      for (const { theirs } of within) theirs(writer)
      writer.join()
    },
  }
}

t.test('writes the bytes of an independent writer', async (t) => {
  fc.assert(
    fc.property(steps, (all) => {
      const ours = new ProtobufWriter()
      const theirs = new BinaryWriter()
      for (const each of all) {
        each.ours(ours)
        each.theirs(theirs)
      }
      return ours.finish().equals(theirs.finish())
    }),
  )
  t.pass()
})

t.test('a message longer than one byte of length can say keeps its fields', async (t) => {
  for (const length of [0, 1, 127, 128, 16_383, 16_384, 70_000]) {
    const writer = new ProtobufWriter().string(1, 'before')
    writer.message(2, (inner) => inner.bytes(3, Buffer.alloc(length, 7))).string(4, 'after')
    const reader = new ProtobufReader(writer.finish())
    t.ok(reader.next() && reader.string() === 'before' && reader.next())
    const within = reader.message()
    t.ok(within.next() && within.bytes().equals(Buffer.alloc(length, 7)))
    t.ok(reader.next() && reader.string() === 'after' && !reader.next())
  }
})

t.test('lone surrogates become U+FFFD', async (t) => {
  const reader = new BinaryReader(new ProtobufWriter().string(1, 'a\ud800b').finish())
  reader.tag()
  t.equal(reader.string(), 'a\ufffdb')
})

t.test('numbers out of range are refused', async (t) => {
  const writer = new ProtobufWriter()
  for (const field of [0, -1, 1.5, MAX_FIELD_NUMBER + 1, Number.NaN])
    t.throws(() => writer.uint(field, 1), RangeError)
  for (const value of [-1, 1.5, 2 ** 53, Number.NaN, -1n, 2n ** 64n])
    t.throws(() => writer.uint(1, value), RangeError)
  for (const value of [1.5, -1.5, Number.NaN, 2n ** 63n, -(2n ** 63n) - 1n])
    t.throws(() => writer.int(1, value), RangeError)
  t.throws(() => writer.fixed32(1, 2 ** 32), RangeError)
  t.throws(() => writer.fixed64(1, 2n ** 64n), RangeError)
})
