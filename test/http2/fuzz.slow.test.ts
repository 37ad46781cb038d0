import t from 'tap'
import { checkRandomFrames } from './fuzz.ts'

t.test('random frames', (t) => checkRandomFrames(t, Number(process.env['SEATGATE_FUZZ_RUNS'] ?? 400)))
