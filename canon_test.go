package patra_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"patra"
)

// anyText draws strings of every kind of character: controls, quotes, what HTML escapes, the separators that
// JavaScript dislikes, both sides of the surrogates, and the planes above.
func anyText() *rapid.Generator[string] {
	between := func(from, to rune) *rapid.Generator[rune] { return rapid.Int32Range(from, to) }
	return rapid.StringOfN(rapid.OneOf(
		between(0, 0x1f), between(0x20, 0x7f), rapid.SampledFrom([]rune("\"\\/<>&\u007f\u0080\u2028\u2029\ufeff\ufffd\uffff\U0001f600")),
		between(0x80, 0x7ff), between(0x800, 0xd7ff), between(0xe000, 0xffff), between(0x10000, 0x10ffff),
	), 0, 8, -1)
}

// anyNumber draws doubles and integers that our values may hold. Doubles that are written as an integer above 2^53
// are another matter: see below.
func anyNumber() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Int64Range(-1<<53, 1<<53).AsAny(),
		rapid.Float64().Filter(func(f float64) bool { return math.Abs(f) <= 1<<53 || math.Abs(f) >= 1e21 }).AsAny(),
		rapid.Float64Range(-1e-5, 1e-5).AsAny(),
		rapid.Custom(func(t *rapid.T) any { return math.Pow10(rapid.IntRange(-323, 15).Draw(t, "exponent")) }),
		rapid.SampledFrom([]any{0, math.Copysign(0, -1), 1e21, -1e21, 1e-6, 1e-7, 9.999999999999999e-7, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 1.0 / 3, 1 << 53, -1 << 53}),
	)
}

// anyValue draws JSON values nested up to a depth.
func anyValue(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{anyText().AsAny(), anyNumber(), rapid.Bool().AsAny(), rapid.Just[any](nil)}
	if depth > 0 {
		kinds = append(kinds,
			rapid.SliceOfN(anyValue(depth-1), 0, 4).AsAny(),
			rapid.MapOfN(anyText(), anyValue(depth-1), 0, 5).AsAny())
	}
	return rapid.OneOf(kinds...)
}

func TestCanonicalFormIsThatOfAnIndependentImplementation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{"": anyValue(3).Draw(t, "value")}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := jcs.Transform(raw)
		if err != nil {
			t.Fatal(err)
		}
		got, err := patra.Canonical(v)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got  %s, %v\nwant %s", got, err, want)
		}
	})
}

func TestTheCanonicalFormIsItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, err := patra.Canonical(anyValue(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		twice, err := patra.Canonical(json.RawMessage(once))
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("once %s\ntwice %s, %v", once, twice, err)
		}
	})
}

func TestTheOrderAndSpellingOfKeysDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.MapOfN(anyText(), anyNumber(), 0, 6).Draw(t, "members")
		keys := make([]string, 0, len(members))
		for k := range members {
			keys = append(keys, k)
		}
		var text strings.Builder
		for n, k := range rapid.Permutation(keys).Draw(t, "order") {
			if n > 0 {
				text.WriteString(" ,\n")
			}
			key, value := spell(t, k), string(mustJSON(t, members[k]))
			text.WriteString(key + " :\t" + value)
		}
		if got, want := patra.Hash(json.RawMessage("{"+text.String()+"}")), patra.Hash(members); got != want {
			t.Fatalf("{%s} hashes to %s, want %s", &text, got, want)
		}
	})
}

// spell writes a string in one of the ways that JSON allows.
func spell(t *rapid.T, s string) string {
	if rapid.Bool().Draw(t, "escape everything for HTML") {
		return string(mustJSON(t, s))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func mustJSON(t *rapid.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCanonicalByExample(t *testing.T) {
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"keys sort by UTF-16 units, not by code points", map[string]any{"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3, "\r": 4, "1": 5}, `{"\r":4,"1":5,"€":3,"😀":2,"` + "\ufb33" + `":1}`},
		{"only what must be escaped is", "\x00\x07\b\t\n\f\r\x1f\"\\/<>&\u007f\u2028é", `"\u0000\u0007\b\t\n\f\r\u001f\"\\/<>&` + "\u007f\u2028" + `é"`},
		{"minus zero is zero", []any{math.Copysign(0, -1), json.Number("-0"), json.Number("-0.0"), json.Number("0e9")}, `[0,0,0,0]`},
		{"a number has one spelling", []any{json.Number("1.0"), json.Number("10e-1"), 1, 1e21, json.Number("1E2"), 0.000001, 0.0000001}, `[1,1,1,1e+21,100,0.000001,1e-7]`},
		{"structs by their names", struct {
			B int `json:"b"`
			A any `json:"a"`
		}{1, nil}, `{"a":null,"b":1}`},
		{"raw text", json.RawMessage(` {"b" : [ ] , "a" : "\u0041\/" } `), `{"a":"A/","b":[]}`},
		{"bytes that are no text become the replacement character", "a\xffb", "\"a\ufffdb\""},
		{"instants are text", patra.Window{From: 0, To: patra.Day}, `{"from":"1970-01-01T00:00:00.000Z","to":"1970-01-02T00:00:00.000Z"}`},
		{"the largest integers", []int64{1 << 53, -1 << 53}, `[9007199254740992,-9007199254740992]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := patra.Canonical(tt.in); err != nil || string(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestWhatHasNoCanonicalFormIsRefused(t *testing.T) {
	for name, v := range map[string]any{
		"above 2^53": int64(1<<53 + 2), "below -2^53": int64(-1<<53 - 2), "the largest int64": int64(math.MaxInt64), "the smallest int64": int64(math.MinInt64),
		"deep inside": map[string]any{"a": []any{map[string]any{"b": int64(1) << 60}}},
		"NaN":         math.NaN(), "infinity": math.Inf(1), "a number no double holds": json.Number("1e999"), "a channel": make(chan int),
		"two values": json.RawMessage(`1 2`), "half a value": json.RawMessage(`{"a":`), "nothing": json.RawMessage(``),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := patra.Canonical(v); err == nil {
				t.Errorf("%v became %s", v, got)
			}
			defer func() {
				if recover() == nil {
					t.Error("Hash gave a hash")
				}
			}()
			patra.Hash(v)
		})
	}
}

func TestNoIntegerIsRounded(t *testing.T) {
	for _, v := range []any{int64(1<<53 + 1), int64(-1<<53 - 1), uint64(1<<63 + 1), uint64(math.MaxUint64), json.Number("123456789012345678901234567890")} {
		if got, err := patra.Canonical(v); err == nil {
			t.Errorf("%v became %s", v, got)
		}
	}
}

// Stored hashes must mean the same for ever. These were computed with sha256sum from the canonical text.
func TestHashesNeverChange(t *testing.T) {
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"empty object", map[string]any{}, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
		{"a mixed value", map[string]any{"b": []any{1, 2.5, nil, true}, "a": "é\n\"<"}, "f11264510c0bc9faed24459f91e77420e08db5796f47bdf0d530e59ed304935f"},
		{"a window", patra.Window{From: 0, To: patra.Day}, "9ae084b50fe18199f664bd17f6b1a8a167973e2183e82b18b67ac9e7fe96444d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := patra.Hash(tt.in); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if got := patra.HashBytes([]byte("abc")); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("the hash of abc is %s", got)
	}
}
