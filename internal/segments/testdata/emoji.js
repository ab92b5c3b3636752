// 10,000 texts dense with emoji, from a fixed seed, and what the calculator answers.
const { SegmentedMessage } = require('sms-segments-calculator');
let state = 20261122;
const next = () => { state = (state + 0x6D2B79F5) | 0; let t = Math.imul(state ^ (state >>> 15), 1 | state); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return (t ^ (t >>> 14)) >>> 0; };
const pick = n => next() % n;
const one = list => list[pick(list.length)];
const chars = s => [...s];
const emoji = chars('😀😂🥹🫠🎉🔥🌈🚀❤☀✈☎⌚🧑👩👨👧👦🧒👶💋🩷🫶🦰🦱⚕⚖♀♂🌾🍳🎓🎤🎨🏫🏭💻💼🔧🔬🚒🗨🐻❄🐈⬛🏳🏴🏃🚶🧎⛹🏋🤝🫱🫲👍👋🖐✋✌☝🤌🫰🪢');
const tones = chars('🏻🏼🏽🏾🏿');
const ri = () => String.fromCodePoint(0x1F1E6 + pick(26));
const sequences = ['👨‍👩‍👧‍👦', '👩🏽‍🚀', '🧑‍🤝‍🧑', '👩‍❤️‍💋‍👨', '🏳️‍🌈', '🏴‍☠️', '🧑🏿‍🎄', '🐻‍❄️', '❤️‍🔥', '😶‍🌫️', '👁️‍🗨️', '🫱🏻‍🫲🏿', '🧔🏼‍♂️', '🏃🏽‍♀️‍➡️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', '#️⃣', '👩‍⚕️', '🐈‍⬛', '🧑🏾‍🦽', '👍🏽', '🫶🏿', '🤌🏻', '☝🏼', '⛹🏾‍♀️'];
const gsm = chars('abc XYZ 019,.!?@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà\n');
const ext = chars('^{}\\[~]|€');
const ucs = chars('çáőžÁ’“”—…жЯ今日本語안녕กขअक\u0301\u0308\u093f\u200b');
const parts = {
  emoji: () => one(emoji), tone: () => one(emoji) + one(tones), bare: () => one(tones),
  zwj: () => { let s = one(emoji); for (let i = pick(4); i >= 0; i--) s += (pick(4) ? '' : one(tones)) + (pick(3) ? '' : '\ufe0f') + '\u200d' + one(emoji); return s; },
  joiner: () => '\u200d', selector: () => '\ufe0f', flag: () => ri() + ri(), half: () => ri(),
  sequence: () => one(sequences), gsm: () => one(gsm), ext: () => one(ext), ucs: () => one(ucs), word: () => { let s = ''; for (let i = pick(6); i >= 0; i--) s += one(gsm); return s; }, crlf: () => '\r\n',
};
const kinds = Object.keys(parts);
const out = [];
for (let n = 0; n < 10000; n++) {
  const mine = []; for (let i = pick(4); i >= 0; i--) mine.push(one(kinds));
  const length = pick(3) ? 60 + pick(100) : 1 + pick(420);
  let text = '';
  while (text.length < length) text += parts[one(mine)]();
  const m = new SegmentedMessage(text, 'auto', false);
  const gsm7 = m.encodingName === 'GSM-7';
  out.push(JSON.stringify({ text, encoding: gsm7 ? 'gsm7' : 'ucs2', units: m.messageSize / (gsm7 ? 7 : 16), segments: m.segmentsCount }));
}
console.log(out.join('\n'));
