package patra

import (
	"regexp"
	"strings"
)

// Mask takes mail addresses, telephone numbers and numbers of identity cards out of a text that people or machines read beside the data: logs, error
// texts, samples. What stands in their place tells two of them apart and no more. Records and bodies are never masked: an
// author's address is data there.
//
// A number is taken for a telephone number only if it is written like one, after a plus or a word such as "tel.", or in
// the American way: ids of works, people and journals, dates and versions are numbers too. A number of an identity card
// (GB 11643: eighteen digits) must have a birthday inside and the right check digit, which no other number has by chance.
func Mask(text string) string {
	if strings.Contains(text, "@") {
		text = mailAddress.ReplaceAllStringFunc(text, func(found string) string { return instead("e-mail", strings.ToLower(found)) })
	}
	if strings.Contains(text, "%40") { // as it stands in an address
		text = escapedAddress.ReplaceAllStringFunc(text, func(found string) string {
			return instead("e-mail", strings.ToLower(strings.Replace(found, "%40", "@", 1)))
		})
	}
	if !strings.ContainsAny(text, "0123456789") {
		return text
	}
	text = cardNumber.ReplaceAllStringFunc(text, func(found string) string {
		if !checks(found) {
			return found
		}
		return instead("id", strings.ToUpper(found))
	})
	text = labelledNumber.ReplaceAllStringFunc(text, func(found string) string {
		at := strings.IndexAny(found, "+(0123456789")
		if !dialled(found[at:], 6) {
			return found
		}
		return found[:at] + instead("phone", found[at:])
	})
	return maskNumbers(text)
}

var (
	mailAddress    = regexp.MustCompile(`[A-Za-z0-9._%+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)
	escapedAddress = regexp.MustCompile(`[A-Za-z0-9._+'-]+%40[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)
	labelledNumber = regexp.MustCompile(`(?i)(?:\b(?:tel|phone|telephone|mobile|cell|fax)|电话|手机)[.:]{0,2}[ =]?[.:]?[ ]?\+?[(]?\d[\d ()./-]{4,}\d`)
	bareNumber     = regexp.MustCompile(`\+[1-9][\d ().-]{6,}\d|\(\d{3}\) ?\d{3}[-.]\d{4}|\b[2-9]\d{2}-[2-9]\d{2}-\d{4}\b`)
	cardNumber     = regexp.MustCompile(`\b[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]\b`)
	beginsAsDate   = regexp.MustCompile(`^\+?[12]\d{3}-\d{2}-\d{2}`)
)

// maskNumbers takes out what is written like a telephone number and does not belong to something longer.
func maskNumbers(text string) string {
	var b strings.Builder
	last := 0
	for _, at := range bareNumber.FindAllStringIndex(text, -1) {
		found := text[at[0]:at[1]]
		if !stands(text, at[0], at[1]) || beginsAsDate.MatchString(found) || !dialled(found, 8) {
			continue
		}
		b.WriteString(text[last:at[0]] + instead("phone", found))
		last = at[1]
	}
	return b.String() + text[last:]
}

// stands reports whether a number stands alone: not inside of an id, an address or a sum, and not behind a time.
func stands(text string, from, to int) bool {
	before, after := byte(' '), byte(' ')
	if from > 0 {
		before = text[from-1]
	}
	if to < len(text) {
		after = text[to]
	}
	if strings.IndexByte("/-._~=&%+", before) >= 0 || isWord(before) || strings.IndexByte("-_/=@%", after) >= 0 || isWord(after) {
		return false
	}
	return !(before == ' ' && from > 1 && text[from] == '+' && text[from-2] >= '0' && text[from-2] <= '9') // 15:04:05 +1000 ...
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// dialled reports whether a text has as many digits as a telephone number.
func dialled(text string, least int) bool {
	n := 0
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			n++
		}
	}
	return n >= least && n <= 15
}

// checks reports whether the last digit of a card's number is the one that the others make.
func checks(card string) bool {
	sum := 0
	for i := range 17 {
		weight := 1
		for range 17 - i {
			weight = weight * 2 % 11
		}
		sum += int(card[i]-'0') * weight
	}
	return "10X98765432"[sum%11] == strings.ToUpper(card)[17]
}

// instead is what stands in the place of something: what it was, and enough of its hash to see whether two are the same.
func instead(what, found string) string { return "[" + what + " " + HashBytes([]byte(found))[:4] + "]" }
