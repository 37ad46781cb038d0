/** W3C Trace Context: what counts as a parent, and what is ignored. */

import t from 'tap'
import { FieldTable } from '../../src/http/wire/field-table.ts'
import { parseTraceParent, traceParentOf } from '../../src/telemetry/tracing/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const ZEROS = '0'.repeat(32)

t.test('valid values', async (t) => {
  const parent = (sampled: boolean) => ({ traceId: TRACE, spanId: SPAN, sampled })
  const cases: Record<string, boolean> = {
    [`00-${TRACE}-${SPAN}-01`]: true,
    [`00-${TRACE}-${SPAN}-00`]: false,
    // Level 2 has the flag 02, and later levels may have more.
    [`00-${TRACE}-${SPAN}-03`]: true,
    [`00-${TRACE}-${SPAN}-02`]: false,
    [`00-${TRACE}-${SPAN}-ff`]: true,
    [`cc-${TRACE}-${SPAN}-01`]: true,
    [`cc-${TRACE}-${SPAN}-01-what-the-future-brings`]: true,
    [`01-${TRACE}-${SPAN}-00-`]: false,
  }
  for (const [value, sampled] of Object.entries(cases))
    t.same(parseTraceParent(value), parent(sampled), value)
})

t.test('malformed values', async (t) => {
  const cases = [
    '',
    TRACE,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-`,
    `00-${TRACE}-${SPAN}-01-more`,
    `cc-${TRACE}-${SPAN}-01.more`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(500)}`,
    `00-${ZEROS}-${SPAN}-01`,
    `00-${TRACE}-${ZEROS.slice(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN.toUpperCase()}-01`,
    `0A-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-0A`,
    `00-${TRACE}-${SPAN}-1`,
    `0-${TRACE}-${SPAN}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}0-${SPAN}-01`,
    `00-${TRACE}-${SPAN.slice(1)}-01`,
    `00_${TRACE}_${SPAN}_01`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  ]
  for (const value of cases) t.equal(parseTraceParent(value), null, value)
})

t.test('the field, in any case and once', async (t) => {
  const value = `00-${TRACE}-${SPAN}-01`
  const read = (...pairs: string[]) => {
    const fields = FieldTable.of(pairs)
    if (fields === null) throw new Error('the fields are malformed')
    return traceParentOf(fields)?.traceId
  }
  t.equal(read('a', 'b', 'TraceParent', value), TRACE)
  t.equal(read('traceparent', value, 'traceparent', value), undefined, 'twice')
  t.equal(read('traceparent', value, 'Traceparent', 'x'), undefined, 'twice, once malformed')
  t.equal(read('trace_parent', value), undefined)
  t.equal(read('trace-parent', value), undefined)
  t.equal(read(), undefined)
})
