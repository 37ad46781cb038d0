import t from 'tap'
import { checkRandomFrames } from './fuzz.ts'

t.test('random frames', (t) => checkRandomFrames(t, 100))
