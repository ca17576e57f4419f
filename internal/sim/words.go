package sim

// The words from which all text is made. They are ours; no title, name or sentence is anybody's publication. Names
// come in several scripts, because byte counts, sorting and escaping go wrong outside ASCII first.

var fields = []string{
	"Coastal Ecology", "Applied Acoustics", "Clinical Nutrition", "Soil Chemistry", "Graph Theory",
	"Sleep Medicine", "Alpine Hydrology", "Plant Pathology", "Historical Linguistics", "Battery Materials",
	"Stellar Dynamics", "Veterinary Imaging", "Public Transport", "Protein Folding", "Urban Climate",
	"Computational Ethics", "Marine Genomics", "Paediatric Surgery", "Glass Physics", "Rural Economics",
}

var adjectives = []string{
	"Seasonal", "Delayed", "Robust", "Anisotropic", "Low-cost", "Comparative", "Non-linear", "Early", "Persistent",
	"Adaptive", "Hidden", "Spatial", "Reversible", "Stochastic", "Transient", "Long-term", "Selective", "Coupled",
}

var nouns = []string{
	"uptake", "recovery", "signalling", "transport", "drift", "clustering", "adhesion", "migration", "fatigue",
	"inference", "scattering", "mineralization", "attention", "resilience", "forecasting", "calibration", "growth",
}

var things = []string{
	"nitrate", "copper ions", "river otters", "elderly volunteers", "thin films", "wheat cultivars", "sparse networks",
	"commuters", "kelp forests", "dairy cattle", "meltwater", "β-sheet peptides", "bilingual readers", "sodium cells",
	"street trees", "double stars", "“quiet” faults", "Ångström-scale gaps", "peat & moss",
}

// marked things carry the markup that publishers leave in titles.
var marked = []string{"<i>Quercus virens</i> seedlings", "CO<sub>2</sub> plumes", "the \"cold\" <b>ice</b> fraction", "Na<sup>+</sup>/K<sup>+</sup> pumps"}

var settings = []string{
	"a northern estuary", "two mountain valleys", "a tertiary hospital", "laboratory mesocosms", "the city of Grünau",
	"simulated markets", "field trials", "a dry season", "primary schools", "cold storage", "the Vale of Orge",
}

var methods = []string{
	"a randomised trial", "a cohort study", "a field experiment", "results of a survey", "a simulation study",
	"evidence from archives", "a systematic review", "first measurements", "a replication", "part II",
}

var given = []string{
	"Anna", "Bo", "Carmen", "Dávid", "Élodie", "Farid", "Günther", "Hana", "Ïsabel", "João", "Khadija", "Łukasz",
	"Márta", "Nguyệt", "Ólafur", "Priya", "Qiang", "René", "Søren", "Tomoko", "Uğur", "Valéria", "Wanjiru", "Σοφία",
	"Юлия", "伟", "地平", "محمد",
}

var family = []string{
	"Ångström-Lund", "Baptista", "Černý", "D’Angelo", "Eze", "Fernández Ruiz", "García", "Hořák", "Ibrahim", "Järvinen",
	"Kowalczyk", "Lê", "Müller", "Nakamura", "Ørsted", "Papadopoulou", "Quispe", "Rossi", "Şahin", "Tanaka", "Ünal",
	"van der Meer", "Williams", "Иванова", "王", "Yılmaz", "Zhang", "الحسن",
}

var institutes = []string{
	"Institute of Quiet Engineering", "Grünau University Hospital", "Department of Open Water, Lanternfield College",
	"École des Sciences du Val d’Orge", "Three Rivers National Laboratory", "Faculty of Patient Study, Port Amber",
	"Wydział Chemii, Uniwersytet Nadrzeczny", "東雲大学 理学部",
}

var cities = []string{"Grünau", "Lanternfield", "Val d’Orge", "Three Rivers", "Port Amber", "Nadrzecze", "東雲"}

// affiliations are every institute in every city, put together once.
var affiliations = func() []string {
	var list []string
	for _, i := range institutes {
		for _, c := range cities {
			list = append(list, i+", "+c)
		}
	}
	return list
}()

var openings = []string{
	"Little is known about", "We measured", "This work describes", "Earlier reports disagree about", "We model",
	"Here we examine", "A simple account is given of",
}

var middles = []string{
	"over three consecutive years", "with a calibrated instrument", "under controlled light", "in blinded samples",
	"with and without prior treatment", "at 12 sites and 4 depths", "by means of a small sensor network",
}

var endings = []string{
	"and found a difference of less than 5%", "and the effect vanished after correction", "with p < 0.01 in both groups",
	"which suggests a second pathway", "but variance was large", "and the data & code are available",
}

var languages = []string{"en", "en", "en", "en", "en", "en", "en", "de", "fr", "es", "pt", "zh"}

var licences = []string{
	"https://creativecommons.org/licenses/by/4.0/", "https://creativecommons.org/licenses/by-nc/4.0/",
	"https://lanternfield.example/terms",
}
